#!/usr/bin/env python3
"""An equality record: what a refactoring may not change, as hashes, to compare before and after it.

    tools/equality.py ATTN OUT.json            trains, searches and sweeps on one thread (some 2 minutes)
    tools/equality.py --compare A.json B.json  prints what differs; exits 1 if anything does

Records of different machines differ. Standard library alone.
"""
import argparse
import csv
import functools
import hashlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BASE = {
    "seed": 3,
    "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de", "vocab_size": 400,
             "batch_tokens": 512},
    "model": {"layers": 2, "d_model": 32, "d_ff": 64, "heads": 2},
    "train": {"steps": 24, "schedule": "inverse_sqrt", "learning_rate": 0.005, "warmup": 8, "log_every": 4,
              "checkpoint_every": 12, "keep_last": 2},
    "search": {"alpha": 0.3},
    "eval": [{"name": "valid", "kind": "loss", "every": 12},
             {"name": "test", "kind": "bleu", "data": "corpus/test", "tokenize": "none", "every": 0, "search": {"beam": 2}},
             {"name": "chrf", "kind": "chrf", "data": "corpus/test", "every": 0}],
}
PARSER = {
    "seed": 3,
    "data": {"task": "parsing", "train": "corpus/train.ptb", "valid": "corpus/valid.ptb", "tokenizer": "words",
             "shared_vocabulary": False, "min_frequency": 2, "unknown_classes": True, "batch_tokens": 1024},
    "model": {**BASE["model"], "word_positions": True, "deterministic_attention": True, "embedding_sharing": "decoder"},
    "train": {**BASE["train"], "average_last": 2},
    "search": {"beam": 2, "extra_length": 60},
    "eval": [{"name": "valid", "kind": "loss", "every": 12},
             {"name": "f1", "kind": "parse", "data": "corpus/test.ptb", "every": 0}]}
RECURRENT = {"architecture": "recurrent", "d_model": 32, "hidden": 32, "d_attention": 32}
CONVOLUTIONS = [{"layers": 2, "width": 32, "kernel": 3}]
# Patches of BASE by name; "parser" is of PARSER.
CONFIGS = {
    "adam": {"model": {"attention_dropout": 0.1, "activation_dropout": 0.1}, "search": {"weights": "int8"}},
    "narrow_heads": {"model": {"heads": 8, "attention_dropout": 0.1}},
    "adamw_relative": {"model": {"position": "relative", "norm": "pre", "activation": "swiglu", "kv_heads": 1},
                       "train": {"optimizer": "adamw", "ema": 0.9, "clip_norm": 1.0}},
    "lion_rotary": {"model": {"position": "rotary", "norm_kind": "rms", "qk_norm": "l2", "bias": False},
                    "train": {"optimizer": "lion", "learning_rate": 0.0005, "accumulate": 2}},
    "muon_bias": {"model": {"position": "t5_bias", "norm": "deep", "activation": "gelu"},
                  "train": {"optimizer": "muon", "schedule": "cosine", "z_loss": 0.0001}},
    "bf16": {"model": {"d_model": 64, "decoder_mixer": {"kind": "convolution", "gated": True}},
             "train": {"precision": "bf16"}},
    "recurrent": {"model": RECURRENT, "train": {"optimizer": "adamw"}},
    "convolutional": {"model": {"architecture": "convolutional", "d_model": 32, "encoder": CONVOLUTIONS,
                                "decoder": CONVOLUTIONS},
                      "train": {"optimizer": "lion", "learning_rate": 0.0005}},
    "bytenet": {"model": {"architecture": "bytenet", "d_model": 32, "hidden": 16, "repeats": 1, "dilations": [1, 2]},
                "train": {"optimizer": "muon"}},
    "parser": {}}
SWEEP = {"base": "muon_bias.json", "set": {"train": {"steps": 8}},
         "rows": [{"name": "base", "seeds": 2}, {"name": "positions", "set": {"model": {"position": "none"}}},
                  {"name": "pre", "set": {"model": {"norm": "pre"}}}, {"name": "recurrent", "set": {"model": RECURRENT}}]}
TIMES = ("seconds", "tokens_per_second", "peak_flops", "peak_memory", "started", "commit", "memory")


def patched(name):
    """The config; a model of another architecture replaces the base's."""
    base = PARSER if name == "parser" else BASE
    return {**base, **{key: value if "architecture" in value else {**base[key], **value} for key, value in CONFIGS[name].items()}}


def hashed(text):
    return hashlib.sha256(text.encode()).hexdigest()


def tensors_of(path):
    """Hash of a safetensors file's tensors; its metadata, which may hold times, does not count."""
    size = int.from_bytes(path.read_bytes()[:8], "little")
    header, tensors = path.read_bytes()[8:8 + size], path.read_bytes()[8 + size:]
    names = sorted((name, tensor) for name, tensor in json.loads(header).items() if name != "__metadata__")
    return hashlib.sha256(json.dumps(names).encode() + tensors).hexdigest()


def run_attn(path, *arguments, stdin=""):
    done = subprocess.run([path, "--threads", "1", *arguments], input=stdin, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"equality: attn {' '.join(arguments)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def record_of(attn, name):
    """The record of one config: {part: hash or scores}."""
    run = pathlib.Path(name)
    pathlib.Path(f"{name}.json").write_text(json.dumps(patched(name)))
    attn("train", f"{name}.json", "--run", name)
    record = {"config": hashed(attn("config", f"{name}.json"))}
    for file in sorted((run / "checkpoints").glob("[as]*/*.safetensors")):
        record[f"{file.parent.name}/{file.stem}"] = tensors_of(file)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    record["losses"] = [line["loss"] for line in lines if line["kind"] == "train"]
    results = json.loads((run / "result.json").read_text())["results"]
    record["scores"] = {evaluator: result["values"] for evaluator, result in results.items()}
    source = pathlib.Path("corpus/test.en").read_text()
    if name == "parser":
        return {**record, "parses": hashed(attn("parse", name, stdin=source))}
    record["hypotheses"] = hashed(attn("translate", name, "--beam", "4", "--nbest", "3", stdin=source))
    record["logprob"] = hashed(attn("logprob", name, "--source", "corpus/test.en", "--target", "corpus/test.de"))
    return record


def sweep_of(attn):
    pathlib.Path("sweep.json").write_text(json.dumps(SWEEP))
    attn("sweep", "sweep.json", "--run", "sweep")
    runs = csv.DictReader(io.StringIO(attn("report", "sweep", "--format", "runs")))
    rows = {f"{row['row']}-{row['seed']}": {key: row[key] for key in row if key not in TIMES} for row in runs}
    return {**rows, "csv": attn("report", "sweep", "--format", "csv").splitlines()}


def differences(before, after, path=""):
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted({*before, *after}):
            yield from differences(before.get(key), after.get(key), f"{path}/{key}")
    elif before != after:
        yield f"{path}: {before} != {after}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compare", action="store_true", help="compare two records")
    parser.add_argument("first", help="the program, or with --compare a record")
    parser.add_argument("second", help="the record to write, or with --compare the other record")
    options = parser.parse_args()
    if options.compare:
        found = list(differences(*(json.loads(pathlib.Path(p).read_text()) for p in (options.first, options.second))))
        print("\n".join(found) or "equal")
        sys.exit(1 if found else 0)
    attn, out = functools.partial(run_attn, os.path.abspath(options.first)), pathlib.Path(options.second).absolute()
    with tempfile.TemporaryDirectory(prefix="attn-equality-") as folder:
        os.chdir(folder)
        attn("generate", "corpus", "--train", "600", "--valid", "40", "--test", "24")
        record = {**{name: record_of(attn, name) for name in CONFIGS}, "sweep": sweep_of(attn)}
    out.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
