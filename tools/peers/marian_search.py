#!/usr/bin/env python3
"""Search with a run's weights in Marian, for comparison with `attn bench search`.

    venv-marian/bin/python tools/peers/marian_search.py RUN TEXT [--at-once 1000] [--batch 32]

Exports the run's (averaged) weights, translates the file and prints sentences/s; with --output it also writes the
translations. Needs pymarian (1.12.42), sentencepiece, safetensors and numpy. Marian supports
"model.position": "sinusoidal_halves" only, and its decoder starts from a zero embedding where attn starts from that of
<s>: --without-start DIR writes a copy of the run with a zero <s>, with which both compute the same function up to the ε
of layer normalization. Its search is close to "search.stop": "first_finished", but its length limit is three times the
longest input.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
from safetensors.numpy import load_file, save_file

from marian import TRAIN, command_line, model_options
from run_files import Run
from search_driver import search_arguments, timed_search
from text_lines import read_lines


def blank_model(run, folder, pieces):
    """A Marian model with the run's dimensions, and its vocabulary: a template for parameter names and config."""
    vocabulary, text, model = (str(folder / name) for name in ("vocabulary", "text", "blank.npz"))
    pathlib.Path(vocabulary).write_text("\n".join(pieces) + "\n", encoding="utf-8")
    pathlib.Path(text).write_text((" ".join(pieces[3:8]) + "\n") * 4, encoding="utf-8")
    sizes = run.model
    options = command_line(
        **model_options(sizes["layers"], sizes["d_model"], sizes["d_ff"], sizes["heads"]), model=model,
        train_sets=f"{text} {text}", vocabs=f"{vocabulary} {vocabulary}", cpu_threads=1, after_batches=1, workspace=1000,
        quiet="")
    subprocess.run([sys.executable, "-c", TRAIN, options], check=True, stdout=subprocess.DEVNULL)
    return model, vocabulary


def linear(weights, name, suffix=""):
    return {"W" + suffix: weights[name + ".weight"].T, "b" + suffix: weights[name + ".bias"][None]}


def export(run, folder):
    weights = run.weights()
    count = run.pieces.get_piece_size()
    first = [run.pieces.eos_id(), run.pieces.unk_id()]
    order = first + [i for i in range(count) if i not in first]
    pieces = ["</s>", "<unk>"] + [run.pieces.id_to_piece(i) for i in order[2:]]
    blank, vocabulary = blank_model(run, folder, pieces)
    with numpy.load(blank) as file:
        model = dict(file)
    found = {"Wemb": weights["shared_weight"][order], "decoder_ff_logit_out_b": numpy.zeros((1, count))}
    for side in ("encoder", "decoder"):
        for i in range(run.model["layers"]):
            ours, theirs = f"{side}.layers.{i}.", f"{side}_l{i + 1}_"
            for part, name in (("self_attention", "self"), ("cross_attention", "context"))[: 2 if side == "decoder" else 1]:
                for map_, letter in (("query", "q"), ("key", "k"), ("value", "v"), ("output", "o")):
                    for kind, value in linear(weights, f"{ours}{part}.{map_}").items():
                        found[f"{theirs}{name}_{kind}{letter}"] = value
                norm = f"{ours}{part}_sublayer.norm."
                found[f"{theirs}{name}_Wo_ln_scale"] = weights[norm + "weight"][None]
                found[f"{theirs}{name}_Wo_ln_bias"] = weights[norm + "bias"][None]
            for map_, number in (("inner", "1"), ("outer", "2")):
                for kind, value in linear(weights, f"{ours}feed_forward.{map_}", number).items():
                    found[f"{theirs}ffn_{kind}"] = value
            norm = f"{ours}feed_forward_sublayer.norm."
            found[f"{theirs}ffn_ffn_ln_scale"] = weights[norm + "weight"][None]
            found[f"{theirs}ffn_ffn_ln_bias"] = weights[norm + "bias"][None]
    for name, value in model.items():
        if name.startswith("special:"):
            continue
        if found[name].shape != value.shape:
            raise SystemExit(f"{name}: {found[name].shape} for Marian's {value.shape}")
        model[name] = numpy.ascontiguousarray(found.pop(name), dtype=numpy.float32)
    if found:
        raise SystemExit(f"unknown to Marian: {', '.join(found)}")
    path = str(folder / "model.npz")
    numpy.savez(path, **model)
    return path, vocabulary


def without_start(run, folder):
    shutil.copytree(run.path, folder)
    file = pathlib.Path(folder) / "model.safetensors"
    weights = load_file(str(file))
    weights["shared_weight"][run.pieces.bos_id()] = 0.0
    save_file(weights, str(file))


def main():
    parser = search_arguments(__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2, help="number of threads, one batch each")
    parser.add_argument("--without-start", metavar="DIR", help="write that copy of the run and exit")
    options = parser.parse_args()
    run = Run(options.run, position="sinusoidal_halves")
    if options.without_start:
        without_start(run, options.without_start)
        return
    search = run.config["search"]
    if (search["penalty"], search["stop"]) not in (("power", "first_finished"), ("power", "count")):
        parser.error("Marian supports search.penalty power with search.stop first_finished only; set both in the run's config")
    import _pymarian

    sentences = [" ".join(pieces) for pieces in run.pieces.encode(read_lines(options.text), out_type=str)]
    with tempfile.TemporaryDirectory() as folder:
        model, vocabulary = export(run, pathlib.Path(folder))
        translator = _pymarian.Translator(command_line(
            models=model, vocabs=f"{vocabulary} {vocabulary}", cpu_threads=options.threads, beam_size=search["beam"],
            normalize=search["alpha"], mini_batch=options.batch, maxi_batch=100, maxi_batch_sort="src",
            max_length_factor=3, allow_unk="", workspace=1000, quiet="", quiet_translation=""))
        timed_search("Marian", run, options, sentences, translator.translate, lambda line: line.split(" "))


if __name__ == "__main__":
    main()
