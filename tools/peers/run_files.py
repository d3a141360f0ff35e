"""Reads the config, weights and tokenizer of a run."""
import json
import pathlib
import resource

import sentencepiece

from text_lines import read_lines


class Run:
    def __init__(self, path, position="sinusoidal"):
        self.path = pathlib.Path(path)
        if (self.path / "averaged").is_dir():
            self.path = self.path / "averaged"
        self.config = json.loads((self.path / "config.json").read_text())
        self.model, self.data = self.config["model"], self.config["data"]
        plain = dict(norm="post", activation="relu", position=position, embedding_sharing="all")
        widths = {self.model["heads"] * self.model[key] for key in ("d_k", "d_v")}
        if widths != {self.model["d_model"]} or not self.model["bias"]:
            raise SystemExit(f"{path}: only heads × d_k = heads × d_v = d_model with biases is supported")
        other = [f"model.{key} {self.model[key]}" for key, value in plain.items() if self.model[key] != value]
        if other or not (self.path / "tokenizer.model").exists():
            raise SystemExit(f"{path}: only the paper's model with {position} positions and a joint vocabulary is "
                             f"supported: {', '.join(other)}")
        self.pieces = sentencepiece.SentencePieceProcessor(model_file=str(self.path / "tokenizer.model"))

    def set(self, assignments):
        """Overrides model options: ["heads=4", …]."""
        for assignment in assignments:
            name, _, value = assignment.partition("=")
            if name not in self.model:
                raise SystemExit(f"{assignment}: not a model option with a number (OPTION=VALUE)")
            try:
                self.model[name] = float(value) if "." in value else int(value)
            except ValueError:
                raise SystemExit(f"{assignment}: not a number") from None

    def weights(self):
        """{name: array}; cross-attention was "memory_attention" in earlier versions."""
        from safetensors.numpy import load_file
        tensors = load_file(str(self.path / "model.safetensors"))
        return {name.replace("memory_attention", "cross_attention"): value for name, value in tensors.items()}

    def tokens(self, file):
        return self.pieces.encode(read_lines(file))


def report(system, **values):
    values = dict(system=system, **values, memory=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    print(json.dumps(values), flush=True)
