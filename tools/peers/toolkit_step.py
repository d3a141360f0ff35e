#!/usr/bin/env python3
"""Training in other toolkits, for comparison with `attn bench step`.

    python3 tools/peers/toolkit_step.py joeynmt RUN --python venv-joeynmt/bin/python [--updates 15]
    python3 tools/peers/toolkit_step.py fairseq RUN --python venv-fairseq/bin/python --set d_model=512 --classes 37000

Toolkits: joeynmt (2.3.0), fairseq (0.12.2), opennmt (OpenNMT-py 3.5.1), eole (0.6.4), sockeye (3.1.34), marian (pymarian
1.12.42), each from pip in its own environment, with torch 2.13 except for marian, which measures batch size in source tokens
and splits a batch between its threads. Model, text, pieces, batch size and dropout are the run's; --set overrides model
options, --classes pads the vocabulary with unused pieces. The model is a Transformer, or, with fairseq and joeynmt, the
run's recurrent model (all encoder layers bidirectional, Luong's decoder with input feeding), or, with fairseq, its
convolutional one. Prints the median of the rates logged by the toolkit, without the first, in target tokens/s (padding
not counted); batching is the toolkit's. Needs sentencepiece.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

from marian import TRAIN, command_line, model_options
from run_files import Run
from text_lines import read_lines

EVERY = 5  # updates between two rates


def joeynmt_sides(task):
    embeddings = dict(embedding_dim=task.width, scale=task.architecture == "transformer", dropout=task.dropout)
    if task.architecture == "recurrent":
        side = dict(type="recurrent", rnn_type=task.model["cell"], hidden_size=task.model["hidden"], embeddings=embeddings,
                    dropout=task.dropout)
        return (dict(**side, num_layers=task.model["encoder_layers"], bidirectional=True),
                dict(**side, num_layers=task.model["decoder_layers"], input_feeding=True, init_hidden="bridge",
                     attention="luong" if task.model["attention"] == "dot" else "bahdanau", hidden_dropout=task.dropout))
    side = dict(type="transformer", num_layers=task.layers, num_heads=task.heads, hidden_size=task.width, ff_size=task.inner,
                embeddings=embeddings, dropout=task.dropout, layer_norm="post")
    return side, side


def joeynmt(task):
    encoder, decoder = joeynmt_sides(task)
    vocabulary = task.write("vocabulary", ["<unk>", "<pad>", "<s>", "</s>"] + task.vocabulary)
    language = lambda name: dict(lang=name, level="word", lowercase=False, voc_file=vocabulary, max_length=100)
    signs = dict(unk_token="<unk>", unk_id=0, pad_token="<pad>", pad_id=1, bos_token="<s>", bos_id=2, eos_token="</s>",
                 eos_id=3)
    config = dict(
        name="peer", joeynmt_version="2.3.0", model_dir=task.path("model"), use_cuda=False, fp16=False, random_seed=1,
        data=dict(train=task.prefix, dev=task.valid, dataset_type="plain", src=language("source"), trg=language("target"),
                  special_symbols=signs),
        testing=dict(beam_size=1, batch_size=32, batch_type="sentence", max_output_length=100, eval_metrics=["bleu"]),
        training=dict(loss="crossentropy", label_smoothing=task.smoothing, normalization="tokens", optimizer="adam",
                      adam_betas=[0.9, 0.98], learning_rate=1e-4, scheduling="warmupinversesquareroot",
                      learning_rate_warmup=300, learning_rate_min=0.0, batch_size=task.tokens, batch_type="token",
                      epochs=100, updates=task.updates, logging_freq=EVERY, validation_freq=10**6,
                      early_stopping_metric="loss", overwrite=True, keep_best_ckpts=1),
        model=dict(initializer="xavier_uniform", embed_initializer="xavier_uniform", bias_initializer="zeros",
                   tied_embeddings=True, tied_softmax=decoder["hidden_size"] == task.width, encoder=encoder,
                   decoder=decoder))
    return ["-m", "joeynmt", "train", "-t", task.yaml(config)], r"Tokens per Sec:\s+([\d.]+)"


# Both for Python 3.11, which allows no mutable defaults in dataclasses, and a numpy without its old aliases.
FAIRSEQ = """
import dataclasses, sys, numpy
plain = dataclasses.dataclass
def dataclass(cls=None, **options):
    if cls is None:
        return lambda later: dataclass(later, **options)
    if cls.__module__.split(".")[0] in ("fairseq", "hydra", "omegaconf"):
        options.setdefault("unsafe_hash", True)
    return plain(cls, **options)
dataclasses.dataclass = dataclass
numpy.float, numpy.int, numpy.bool = float, int, bool
from fairseq_cli import NAME
NAME.cli_main()
"""


def fairseq_model(task):
    model = task.model
    if task.architecture == "recurrent":
        width = str(task.width)
        return ["--arch", "lstm", "--share-all-embeddings", "--encoder-bidirectional", "--encoder-embed-dim", width,
                "--decoder-embed-dim", width, "--decoder-out-embed-dim", width,
                "--encoder-hidden-size", str(model["hidden"]), "--decoder-hidden-size", str(model["hidden"]),
                "--encoder-layers", str(model["encoder_layers"]), "--decoder-layers", str(model["decoder_layers"]),
                "--dropout", str(task.dropout)]
    if task.architecture == "convolutional":
        options = ["--arch", "fconv", "--share-input-output-embed", "--decoder-out-embed-dim", str(task.width),
                   "--dropout", str(task.dropout)]
        for side in ("encoder", "decoder"):
            layers = [(stack["width"], stack["kernel"]) for stack in model[side] for _ in range(stack["layers"])]
            options += [f"--{side}-embed-dim", str(task.width), f"--{side}-layers", str(layers)]
        return options
    options = ["--arch", "transformer", "--share-all-embeddings", "--dropout", str(task.dropout),
               "--attention-dropout", str(task.attention_dropout)]
    for side in ("encoder", "decoder"):
        options += [f"--{side}-layers", str(task.layers), f"--{side}-embed-dim", str(task.width),
                    f"--{side}-ffn-embed-dim", str(task.inner), f"--{side}-attention-heads", str(task.heads)]
    return options


def fairseq(task):
    words = task.write("vocabulary", [f"{piece} {len(task.vocabulary) - i}" for i, piece in enumerate(task.vocabulary)])
    task.run(["-c", FAIRSEQ.replace("NAME", "preprocess"), "-s", "source", "-t", "target", "--trainpref", task.prefix,
              "--validpref", task.valid, "--srcdict", words, "--tgtdict", words, "--destdir", task.path("binary"),
              "--padding-factor", "1"])
    command = ["-c", FAIRSEQ.replace("NAME", "train"), task.path("binary"), *fairseq_model(task),
               "--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--adam-eps", "1e-9", "--lr", "1e-4",
               "--lr-scheduler", "inverse_sqrt", "--warmup-updates", "300", "--clip-norm", "0",
               "--criterion", "label_smoothed_cross_entropy", "--label-smoothing", str(task.smoothing),
               "--max-tokens", str(task.tokens), "--max-update", str(task.updates), "--cpu", "--num-workers", "0",
               "--log-interval", str(EVERY), "--log-format", "simple", "--no-save", "--disable-validation"]
    command += ["--bf16"] if task.bf16 else []
    return command, r"wps=([\d.]+)"


def corpora_of(task):
    part = lambda prefix: dict(path_src=f"{prefix}.source", path_tgt=f"{prefix}.target", transforms=[])
    return dict(corpus_1=part(task.prefix) | dict(weight=1), valid=part(task.valid))


def counted(task, pieces):
    return task.write("vocabulary", [f"{piece}\t{len(pieces) - i}" for i, piece in enumerate(pieces)])


def opennmt(task):
    vocabulary = counted(task, ["<unk>", "<blank>", "<s>", "</s>"] + task.vocabulary)
    classes = len(task.vocabulary) + 4
    config = dict(
        data=corpora_of(task), save_data=task.path("data"), save_model=task.path("model"), src_vocab=vocabulary,
        tgt_vocab=vocabulary, share_vocab=True, src_vocab_size=classes, tgt_vocab_size=classes, vocab_size_multiple=1,
        train_steps=task.updates, valid_steps=10**6, save_checkpoint_steps=10**6, report_every=EVERY, seed=1,
        bucket_size=262144, num_workers=0, batch_type="tokens", batch_size=task.tokens, valid_batch_size=512,
        accum_count=[1], accum_steps=[0], model_dtype="fp32", normalization="tokens", optim="adam", adam_beta2=0.98,
        learning_rate=1.0, decay_method="noam", warmup_steps=300, max_grad_norm=0, label_smoothing=task.smoothing,
        param_init=0, param_init_glorot=True, encoder_type="transformer", decoder_type="transformer", position_encoding=True,
        enc_layers=task.layers, dec_layers=task.layers, heads=task.heads, hidden_size=task.width, word_vec_size=task.width,
        transformer_ff=task.inner, dropout_steps=[0], dropout=[task.dropout], attention_dropout=[task.attention_dropout],
        share_decoder_embeddings=True, share_embeddings=True)
    return ["-W", "ignore", "-m", "onmt.bin.train", "-config", task.yaml(config)], r"\d+/\s*(\d+) tok/s"


def eole(task):
    vocabulary, classes = counted(task, task.vocabulary), len(task.vocabulary) + 4
    config = dict(
        data=corpora_of(task), save_data=task.path("data"), src_vocab=vocabulary, tgt_vocab=vocabulary, share_vocab=True,
        src_vocab_size=classes, tgt_vocab_size=classes, vocab_size_multiple=1, overwrite=True, report_every=EVERY, seed=1,
        n_sample=0,
        training=dict(model_path=task.path("model"), world_size=1, gpu_ranks=[], train_steps=task.updates,
                      valid_steps=10**6, save_checkpoint_steps=10**6, bucket_size=262144, num_workers=0,
                      batch_type="tokens", batch_size=task.tokens, batch_size_multiple=1, valid_batch_size=512,
                      accum_count=[1], accum_steps=[0], compute_dtype="bf16" if task.bf16 else "fp32", normalization="tokens", optim="adam",
                      adam_beta2=0.98, learning_rate=1.0, decay_method="noam", warmup_steps=300, max_grad_norm=0,
                      label_smoothing=task.smoothing, param_init_method="xavier_uniform", dropout_steps=[0],
                      dropout=[task.dropout], attention_dropout=[task.attention_dropout]),
        model=dict(architecture="transformer", layers=task.layers, heads=task.heads, hidden_size=task.width,
                   transformer_ff=task.inner, share_decoder_embeddings=True, share_embeddings=True, add_qkvbias=True,
                   add_final_linear_bias=True,
                   embeddings=dict(word_vec_size=task.width, position_encoding_type="SinusoidalInterleaved")))
    return ["-m", "eole.bin.main", "train", "-c", task.yaml(config)], r"[\d.]+/\s*([\d.]+) tok/s"


# Sockeye logs source tokens with their padding, every 50 batches: this counts as the others do.
SOCKEYE = f"""
import sockeye.constants, sockeye.data_io
sockeye.constants.MEASURE_SPEED_EVERY = {EVERY}
plain = sockeye.data_io.create_batch_from_parallel_sample
def counting(*arguments, **options):
    batch = plain(*arguments, **options)
    labels = batch.labels[sockeye.constants.TARGET_LABEL_NAME]
    batch.tokens = int((labels != sockeye.constants.PAD_ID).sum())
    return batch
sockeye.data_io.create_batch_from_parallel_sample = counting
from sockeye.train import main
main()
"""


def sockeye(task):
    updates = str(task.updates)
    command = ["-c", SOCKEYE, "-s", f"{task.prefix}.source", "-t", f"{task.prefix}.target", "-vs", f"{task.valid}.source",
               "-vt", f"{task.valid}.target", "-o", task.path("model"), "--use-cpu", "--shared-vocab",
               "--weight-tying-type", "src_trg_softmax", "--pad-vocab-to-multiple-of", str(max(1, task.classes)),
               "--num-layers", f"{task.layers}:{task.layers}", "--transformer-model-size", str(task.width),
               "--num-embed", str(task.width), "--transformer-attention-heads", str(task.heads),
               "--transformer-feed-forward-num-hidden", str(task.inner), "--transformer-preprocess", "n",
               "--transformer-postprocess", "dr", "--transformer-dropout-attention", str(task.attention_dropout),
               "--transformer-dropout-act", "0", "--transformer-dropout-prepost", str(task.dropout), "--embed-dropout", "0",
               "--label-smoothing", str(task.smoothing), "--batch-type", "max-word", "--batch-size", str(task.tokens),
               "--batch-sentences-multiple-of", "1", "--optimizer", "adam", "--optimizer-betas", "0.9:0.98",
               "--initial-learning-rate", "0.0001", "--learning-rate-scheduler-type", "inv-sqrt-decay",
               "--learning-rate-warmup", "300", "--gradient-clipping-type", "none", "--checkpoint-interval", updates,
               "--max-updates", updates, "--max-seq-len", "100:100", "--decode-and-evaluate", "0"]
    return command, r"tok/sec=([\d.]+)"


def marian(task):
    vocabulary = task.write("vocabulary", ["</s>", "<unk>"] + task.vocabulary)
    options = command_line(
        **model_options(task.layers, task.width, task.inner, task.heads), model=task.path("model.npz"),
        train_sets=f"{task.prefix}.source {task.prefix}.target", vocabs=f"{vocabulary} {vocabulary}", cpu_threads=2,
        sync_sgd="", mini_batch_words=task.tokens, mini_batch=1000, maxi_batch=200, maxi_batch_sort="trg", max_length=100,
        workspace=4000, transformer_dropout=task.dropout, transformer_dropout_attention=task.attention_dropout,
        transformer_dropout_ffn=0, label_smoothing=task.smoothing, optimizer_params="0.9 0.98 1e-9", learn_rate=1e-4,
        lr_warmup=300, clip_norm=0, cost_type="ce-mean-words", disp_freq=EVERY, after_batches=task.updates, seed=1,
        save_freq=10**6, overwrite="")
    return ["-c", TRAIN, options], r"([\d.]+) words/s"


def require_supported(toolkit, run):
    """Exits unless the toolkit has the run's model."""
    architecture = run.model["architecture"]
    if architecture not in ARCHITECTURES.get(toolkit, ("transformer",)):
        sys.exit(f"{run.name}: model.architecture {architecture} is not supported for {toolkit}")
    if architecture == "transformer":
        run.require_paper()
    if architecture == "recurrent":
        needed = dict(encoder_directions="both", decoder="luong", input_feeding=True, residual=False)
        needed |= dict(cell="lstm", attention="dot") if toolkit == "fairseq" else {}
        other = [f"model.{key} {run.model[key]}" for key, value in needed.items() if run.model[key] != value]
        if other:
            only = ", ".join(f"{key} {value}" for key, value in needed.items())
            sys.exit(f"{run.name}: {toolkit} supports only {only}; the run has {', '.join(other)}")


class Task:
    """What a toolkit is to train, and a folder for its files."""

    def __init__(self, options, run, folder):
        model, data, train = run.model, run.data, run.config["train"]
        self.python, self.folder = options.python, pathlib.Path(folder)
        self.architecture, self.model = model["architecture"], model
        self.layers, self.heads, self.width, self.inner = (model.get(key) for key in ("layers", "heads", "d_model", "d_ff"))
        self.dropout, self.attention_dropout = model["dropout"], model.get("attention_dropout")
        self.smoothing, self.tokens, self.updates = train["label_smoothing"], data["batch_tokens"], options.updates
        self.classes, self.bf16 = options.classes, options.bf16
        self.math_threads = 1 if options.toolkit == "marian" else 2
        pieces = run.pieces
        self.vocabulary = [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())
                           if not pieces.is_control(i) and not pieces.is_unknown(i)]
        self.vocabulary += [f"never{i}" for i in range(options.classes - 4 - len(self.vocabulary))]
        self.prefix, self.valid = self.path("train"), self.path("valid")
        for name, prefix in (("train", data["train"]), ("valid", data["valid"])):
            for side, language in (("source", data["source"]), ("target", data["target"])):
                text = read_lines(f"{prefix}.{language}")
                self.write(f"{name}.{side}", [" ".join(line) for line in pieces.encode(text, out_type=str)])

    def path(self, name):
        return str(self.folder / name)

    def write(self, name, lines):
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return self.path(name)

    def yaml(self, config):  # JSON is YAML, except for numbers such as 1e-09
        return self.write("config.yaml", [json.dumps(config)])

    def run(self, arguments):
        """What the toolkit printed."""
        environment = os.environ | dict(OMP_NUM_THREADS=str(self.math_threads), PYTHONWARNINGS="ignore", HF_HUB_OFFLINE="1",
                                        TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD="1")
        done = subprocess.run([self.python, *arguments], env=environment, cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{self.python}: exit code {done.returncode}\n{done.stdout[-3000:]}")
        return done.stdout


ARCHITECTURES = dict(fairseq=("transformer", "recurrent", "convolutional"), joeynmt=("transformer", "recurrent"))
TOOLKITS = dict(joeynmt=joeynmt, fairseq=fairseq, opennmt=opennmt, eole=eole, sockeye=sockeye, marian=marian)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("toolkit", choices=TOOLKITS)
    parser.add_argument("run")
    parser.add_argument("--python", required=True, help="Python of the toolkit's environment")
    parser.add_argument("--updates", type=int, default=20)
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="override a model option")
    parser.add_argument("--classes", type=int, default=0, help="vocabulary size, if larger than the run's")
    parser.add_argument("--bf16", action="store_true", help="bf16 training (fairseq and eole only)")
    options = parser.parse_args()
    if options.bf16 and options.toolkit not in ("fairseq", "eole"):
        sys.exit(f"{options.toolkit}: --bf16 is supported for fairseq and eole only")
    options.python = os.path.abspath(options.python)
    run = Run(options.run, position=None)
    run.set(options.set)
    require_supported(options.toolkit, run)
    with tempfile.TemporaryDirectory() as folder:
        task = Task(options, run, folder)
        command, rate = TOOLKITS[options.toolkit](task)
        printed = task.run(command)
    rates = [float(found) for found in re.findall(rate, printed)][1:]
    if not rates:
        sys.exit(f"{options.toolkit} logged no rate after its first\n{printed[-3000:]}")
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(json.dumps(dict(system=options.toolkit, tokens_per_second=statistics.median(rates), rates=rates, memory=memory)))


if __name__ == "__main__":
    main()
