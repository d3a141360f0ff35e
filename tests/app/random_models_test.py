"""The real binary with random models: whatever options are combined, search scores as forced decoding.

    python3 tests/app/random_models_test.py path/to/attn

Standard library alone. ATTN_RANDOM_MODELS=200 tries as many (default 8), ATTN_RANDOM_SEED=9 others;
a failure names its config.
"""
import json
import os
import random

from program import ProgramTest, main


def mixer(draw, encoder, layers):
    kind = draw(["restricted_attention", "convolution", "recurrence", "none"])
    if kind == "restricted_attention":
        return {"kind": kind, "window": draw([1, 2, 3, 5, 8])}
    if kind == "convolution":
        kernel = draw([1, 3, 5] if encoder else [1, 2, 3, 4])
        return {"kind": kind, "kernel": kernel, "gated": draw([True, False]), "dilation": draw([1, 2]) if kernel > 1 and layers > 1 else 1}
    if kind == "recurrence":
        both = {"bidirectional": draw([True, False])} if encoder else {}
        return {"kind": kind, "cell": draw(["lstm", "gru"]), **both}
    return {"kind": kind}


def transformer(draw):
    heads = draw([1, 2, 3, 4, 6, 8])
    d_k = draw([2, 4, 6, 8, 10, 16, 20, 32])
    norm = draw(["post", "pre", "deep"])
    mup = draw([False, False, False, True]) if norm != "deep" else False
    model = {
        "layers": draw([1, 2, 3]), "decoder_layers": draw([1, 2, 3]), "d_model": draw([24, 32, 40, 64, 72, 100]),
        "d_ff": draw([32, 48, 64, 88]), "heads": heads, "kv_heads": draw(["auto", *(n for n in range(1, heads + 1) if heads % n == 0)]),
        "d_k": d_k, "d_v": draw([d_k, 4, 7, 16, 24]), "dropout": draw([0, 0.1, 0.3]), "attention_dropout": draw([0, 0.1]),
        "activation_dropout": draw([0, 0.1]), "norm": norm,
        "norm_kind": draw(["layer", "rms"] if norm == "deep" else ["layer", "rms", "scale"]),
        "qk_norm": draw(["none", "l2", "rms"]), "bias": draw([True, False]), "feed_forward_bias": draw([True, False]),
        "activation": draw(["relu", "gelu", "silu", "geglu", "swiglu"]),
        "initialization": draw(["xavier"] if norm == "deep" else ["xavier", "depth"]),
    }
    widths = [model[name] for name in ("d_ff", "d_k", "d_v")]
    bases = [n for n in range(4, model["d_model"] + 1) if all(width * n % model["d_model"] == 0 for width in widths)]
    model["mup_base"] = draw(bases) if mup else 0
    for side in ("encoder", "decoder"):
        if draw([True, False, False]) and norm != "deep" and model["initialization"] != "depth":
            model[f"{side}_mixer"] = mixer(draw, side == "encoder", model["layers" if side == "encoder" else "decoder_layers"])
    mixed = [model.get(f"{side}_mixer", {}).get("kind", "attention") for side in ("encoder", "decoder")]
    in_attention = ["rotary", "alibi", "t5_bias", "relative"] if "attention" in mixed else []
    model["position"] = draw(["sinusoidal", "sinusoidal_halves", "learned", "none"] + in_attention)
    return model


def recurrent(draw):
    layers = draw([(1, 1), (1, 2), (3, 2), (2, 3)])
    return {"d_model": draw([24, 32, 40]), "hidden": draw([16, 24, 33]), "d_attention": draw([16, 31]),
            "cell": draw(["lstm", "gru"]), "attention": draw(["additive", "dot"]),
            "encoder_directions": draw(["both", "bottom", "forward"]), "decoder": draw(["gnmt", "luong"]),
            "input_feeding": draw([True, False]), "residual": draw([True, False]) if max(layers) > 2 else False,
            "encoder_layers": layers[0], "decoder_layers": layers[1]}


def convolutional(draw):
    stack = lambda kernels: [{"layers": draw([1, 2]), "width": draw([24, 32, 40]), "kernel": draw(kernels)}]
    return {"d_model": draw([24, 32]), "encoder": stack([1, 3, 5]), "decoder": stack([1, 2, 3, 4])}


def bytenet(draw):
    return {"d_model": draw([24, 32]), "hidden": draw([12, 16, 20]), "kernel": draw([3, 5]), "repeats": draw([1, 2]),
            "dilations": draw([[1, 2], [1, 2, 4]]), "length_factor": draw([1.0, 1.5, 2.0])}


def experiment(seed):
    generator = random.Random(seed)
    draw = generator.choice
    architecture = draw([transformer] * 5 + [recurrent, convolutional, bytenet])
    model = {"architecture": architecture.__name__, **architecture(draw), "embedding_sharing": draw(["all", "decoder", "none"])}
    # The rates of µP are Adam's, and weight-normalized matrices have no Muon.
    optimizers = ["adam"] if model.get("mup_base") else ["adam", "adamw", "lion"]
    if len(optimizers) > 1 and architecture is not convolutional:
        optimizers.append("muon")
    return {
        "seed": seed,
        # Words, since subwords of a text can be others than those that search chose.
        "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de", "tokenizer": "words",
                 "vocab_size": 300, "batch_tokens": draw([256, 512]), "cache": "cache"},
        "model": model,
        "train": {"steps": 12, "warmup": 4, "learning_rate": 0.003, "precision": draw(["fp32", "bf16"]),
                  "optimizer": draw(optimizers), "schedule": draw(["inverse_sqrt", "cosine", "wsd"]),
                  "accumulate": draw([1, 2]), "ema": draw([0, 0.9]), "z_loss": draw([0, 0.0001])},
        "search": {"beam": draw([1, 2, 5]), "alpha": 0, "extra_length": 40},
    }


class RandomModels(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "300", "--valid", "10", "--test", "10")
        cls.sources = (cls.path / "corpus/test.en").read_text().splitlines()

    def check_scores(self, config, *searches):
        listed = "".join(self.attn("translate", "run", "--nbest-list", *search, stdin="\n".join(self.sources) + "\n").stdout
                         for search in searches)
        rows = [line.split(" ||| ") for line in listed.splitlines()]
        self.write("sources", "".join(self.sources[int(row[0])] + "\n" for row in rows))
        self.write("outputs", "".join(row[1] + "\n" for row in rows))
        forced = self.attn("logprob", "run", "--source", "sources", "--target", "outputs", "--json").stdout
        for row, line in zip(rows, forced.splitlines(), strict=True):
            found = json.loads(line)
            self.assertEqual(row[1].split() + ["</s>"], found["tokens"], config)
            whole = found["log_prob"]
            at_limit = whole - found["token_log_probs"][-1]  # without EOS
            log_prob = float(row[2].removeprefix("logp= "))
            difference = min(abs(log_prob - whole), abs(log_prob - at_limit)) / len(found["tokens"])
            self.assertLess(difference, 1e-4, (row, found, config))

    def test_search_scores_as_forced_decoding(self):
        first = int(os.environ.get("ATTN_RANDOM_SEED", "1"))
        for seed in range(first, first + int(os.environ.get("ATTN_RANDOM_MODELS", "8"))):
            config = experiment(seed)
            with self.subTest(config=json.dumps(config)):
                self.write("random.json", config)
                self.attn("train", "random.json", "--run", f"runs/{seed}")
                (self.path / "run").unlink(missing_ok=True)
                (self.path / "run").symlink_to(f"runs/{seed}")
                self.check_scores(config, ("--nbest", "1"), ("--set", "method=sample", "samples=2", "nbest=2", f"seed={seed}"))


if __name__ == "__main__":
    main()
