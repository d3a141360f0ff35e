"""Reads the config and the tokenizer of a run."""
import json
import pathlib
import resource

from text_lines import read_lines


class Config:
    """A resolved config: config.json of a run, or the output of `attn config FILE`."""

    def __init__(self, path):
        self.config = json.loads(pathlib.Path(path).read_text())
        self.model, self.data = self.config["model"], self.config["data"]
        self.name = path

    def require_paper(self):
        """Exits unless the model is the paper's Transformer; after set()."""
        mixer = {"kind": "attention"}
        plain = dict(architecture="transformer", norm="post", norm_kind="layer", activation="relu", position="sinusoidal", qk_norm="none",
                     embedding_sharing="all", kv_heads="auto", bias=True, feed_forward_bias=True, activation_dropout=0.0, mup_base=0,
                     word_positions=False, decoder_layers="auto", encoder_mixer=mixer, decoder_mixer=mixer)
        other = [f"model.{key} {self.model.get(key)}" for key, value in plain.items() if self.model.get(key, value) != value]
        other += [f"train.optimizer {name}" for name in [self.config["train"].get("optimizer", "adam")] if name != "adam"]
        if not other and {self.model["heads"] * self.model[key] for key in ("d_k", "d_v")} != {self.model["d_model"]}:
            raise SystemExit(f"{self.name}: only heads × d_k = heads × d_v = d_model is supported")
        if other:
            raise SystemExit(f"{self.name}: only the paper's model is supported: {', '.join(other)}")

    def set(self, assignments):
        """Overrides model options: ["heads=4", …]; then resolves d_k and d_v."""
        for assignment in assignments:
            name, _, value = assignment.partition("=")
            if name not in self.model:
                raise SystemExit(f"{assignment}: not a model option with a number (OPTION=VALUE)")
            try:
                self.model[name] = float(value) if "." in value else int(value)
            except ValueError:
                raise SystemExit(f"{assignment}: not a number") from None
        width = self.model["d_model"] // self.model.get("heads", 1)
        self.model.update({key: width for key in ("d_k", "d_v") if self.model.get(key) == "auto"})


class Run(Config):
    def __init__(self, path):
        import sentencepiece
        self.path = pathlib.Path(path)
        if (self.path / "averaged").is_dir():
            self.path = self.path / "averaged"
        super().__init__(self.path / "config.json")
        tokenizer = self.path / "tokenizer.model"
        if not tokenizer.exists():
            raise SystemExit(f"{path}: only runs with a joint vocabulary are supported: tokenizer.model is missing")
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=str(tokenizer))

    def pairs(self):
        """The training text as attn reads it, without pairs that have an empty side or one over data.max_length."""
        sides = (self.pieces.encode(read_lines(f"{self.data['train']}.{self.data[side]}")) for side in ("source", "target"))
        return [pair for pair in zip(*sides) if all(0 < len(side) < self.data["max_length"] for side in pair)]


def report(system, **values):
    """Prints the values as JSON; memory is that of the process unless they have another."""
    values = dict(system=system, **values)
    values.setdefault("memory", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    print(json.dumps(values), flush=True)
