"""Exports a trained translator to CTranslate2 or, as a MarianMTModel, to Hugging Face transformers; docs/howto/export.md.

    ./run export RUN --to ctranslate2 --output tiny-ct2

Needs torch, sentencepiece unless the vocabulary is words, and the target's package: ctranslate2 or transformers. Prints
the directory, which is written completely or not at all.
"""
import argparse
import collections
import json
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # torch's, where it is missing
try:
    import torch
    from torch.nn import functional as F
    from attn_torch import load, read_vocabulary, resolved, write_weights
    from attn_torch.transformer import sinusoids
except ImportError:
    sys.exit("export: needs the package torch (pip install torch)")

# What both targets can express with any value, and what only with these and the default. Every other option must have
# its default, so that a new one is refused until somebody has added it here.
ANY = {f"{section}.{option}" for section, options in (
    ("data", "train valid source target tokenizer vocab_size shared_vocabulary source_model target_model min_frequency "
             "word_dropout character_coverage normalization max_length batch_tokens cache sources"),
    ("model", "layers decoder_layers d_model d_ff heads d_k d_v dropout attention_dropout activation_dropout max_positions bias "
              "embedding_sharing initialization qk_norm_length")) for option in options.split()}
MARIAN = {"model.activation": ("relu", "gelu", "silu"), "model.position": ("sinusoidal_halves", "learned", "none")}
SOME = {"huggingface": MARIAN,
        "ctranslate2": {**MARIAN, "model.position": ("sinusoidal_halves", "learned", "none", "rotary"),
                        "model.norm": ("pre",), "model.norm_kind": ("rms",)}}
USE_CTRANSLATE2 = "; use --to ctranslate2"
POSITIONS = 2048  # sinusoids have no end, the targets' tables have; attn translates lines of at most half as many tokens
PADDING = "<pad>"
# Parts of names in the checkpoint, and in MarianMTModel.
MARIAN_NAMES = {"self_attention_sublayer.norm": "self_attn_layer_norm", "feed_forward.inner": "fc1",
                "cross_attention_sublayer.norm": "encoder_attn_layer_norm", "feed_forward.outer": "fc2",
                "feed_forward_sublayer.norm": "final_layer_norm", "self_attention": "self_attn",
                "cross_attention": "encoder_attn", ".query.": ".q_proj.", ".key.": ".k_proj.", ".value.": ".v_proj.",
                ".output.": ".out_proj.", "shared_weight": "shared.weight",
                "source_weight": "encoder.embed_tokens.weight", "target_weight": "decoder.embed_tokens.weight"}

Vocabulary = collections.namedtuple("Vocabulary", "tokens unk bos eos sentencepiece")  # three ids; a path or None


def run_attn(program, *arguments):
    """The (stdout, stderr) of attn; if it fails, exits with its message."""
    done = subprocess.run([program, "--device", "cpu", *arguments], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        sys.exit(done.stderr.decode().rstrip("\n").rpartition("\n")[2] or f"{program}: exit code {done.returncode}")
    return done.stdout.decode(), done.stderr.decode()


def read_side(program, checkpoint, side):
    """The vocabulary of a side, "source" or "target"."""
    file = next(path for name in ("tokenizer", side) if (path := checkpoint / f"{name}.model").exists())
    target = ["--target"] if side == "target" else []
    tokens = list(read_vocabulary(run_attn(program, "vocab", str(checkpoint), *target)[0]))
    if not file.read_bytes().startswith(b"\n"):  # a word list: a SentencePiece model starts with this byte
        return Vocabulary(tokens, *map(tokens.index, ("<unk>", "<s>", "</s>")), None)
    from sentencepiece import SentencePieceProcessor
    pieces = SentencePieceProcessor(model_file=str(file))
    bos = pieces.bos_id() if pieces.bos_id() >= 0 else pieces.eos_id()
    return Vocabulary(tokens, pieces.unk_id(), bos, pieces.eos_id(), file)


def refuse(option, value, target, why=""):
    value = value if isinstance(value, str) else json.dumps(value)
    sys.exit(f"export: {option}: {value}: cannot be exported with --to {target}{why}")


def require_expressible(config, defaults, target):
    for section in ("data", "model"):
        for option, value in config[section].items():
            name, default = f"{section}.{option}", defaults[section].get(option)
            if name not in ANY and value not in (default, *SOME[target].get(name, ())):
                refuse(name, value, target, USE_CTRANSLATE2 if value in SOME["ctranslate2"].get(name, ()) else "")
    model = resolved(config["model"])
    width, remainder = divmod(model["d_model"], model["heads"])
    for option, fits in (("heads", remainder == 0), ("d_k", model["d_k"] <= width), ("d_v", model["d_v"] <= width)):
        if target == "huggingface" and not fits:
            refuse(f"model.{option}", model[option], target, ", whose heads are d_model / heads wide" + USE_CTRANSLATE2)


def require_expressible_vocabularies(source, target, to):
    for ours, theirs in ((source.unk, target.unk), (source.eos, target.eos)):
        names = source.tokens[ours], target.tokens[theirs]
        if names[0] != names[1]:
            refuse("data.tokenizer", " and ".join(names), to, ", which has one name for a special token of both sides")
    for side in (source, target) if to == "huggingface" else ():
        if side.sentencepiece is None:
            refuse("data.tokenizer", "words", to, ", whose tokenizer needs SentencePiece models" + USE_CTRANSLATE2)
        if PADDING in side.tokens:
            refuse("data.tokenizer", f"a vocabulary with {PADDING}", to, ", which needs this token for padding")


def position_table(model, side):
    kind, width = model.config.position, model.config.d_model
    if kind == "learned":
        return model.state_dict()[f"{side}_embedding.position.weight"]
    return torch.zeros(POSITIONS, width) if kind == "none" else sinusoids(POSITIONS, width, kind != "sinusoidal").float()


def with_head_width(model, width):
    """The weights with heads of this width: zeros are appended, which change no product."""
    def pad(rows):
        heads = rows.unflatten(0, (model.config.heads, -1))
        return F.pad(heads, [0, 0] * (rows.dim() - 1) + [0, width - heads.size(1)]).flatten(0, 1)

    def padded(name, tensor):
        if re.search(r"attention\.(query|key|value)\.", name):
            return pad(tensor)
        return pad(tensor.T).T if name.endswith("attention.output.weight") else tensor.clone()  # int8 is computed in place

    return {name: padded(name, tensor) for name, tensor in model.state_dict().items()}


def ctranslate2_spec(model):
    from ctranslate2.specs import common_spec, transformer_spec
    config, d_k = model.config, model.config.d_k
    width, rotary = max(d_k, config.d_v), config.position == "rotary"
    weights = with_head_width(model, width)
    activation = {"relu": "RELU", "gelu": "GELU", "silu": "SWISH"}[config.activation]  # GELU: the exact form
    shape = {"num_layers": config.layers, "num_heads": config.heads, "pre_norm": config.norm == "pre",
             "rms_norm": config.norm_kind == "rms", "activation": common_spec.Activation[activation],
             "head_dim": width if width * config.heads != config.d_model else None,
             "rotary_dim": d_k if rotary else None}
    spec = transformer_spec.TransformerSpec(transformer_spec.TransformerEncoderSpec(**shape),
                                            transformer_spec.TransformerDecoderSpec(**shape | {"num_layers": config.decoder_layers}))

    def fill(layer, *names):
        """Sets a norm, or a linear layer to those of these names, their rows below each other."""
        for ours, theirs in zip(("weight", "bias"), ("gamma", "beta") if hasattr(layer, "gamma") else ("weight", "bias")):
            if f"{names[0]}.{ours}" in weights:
                setattr(layer, theirs, torch.cat([weights[f"{name}.{ours}"] for name in names]).numpy())

    def fill_attention(attention, name, *parts):
        attention.queries_scale = d_k ** -0.5
        fill(attention.layer_norm, name + "_sublayer.norm")
        for layer, together in zip(attention.linear, parts):
            fill(layer, *(f"{name}.{part}" for part in together))

    for stack, side, words in (("encoder", spec.encoder, "source"), ("decoder", spec.decoder, "target")):
        (side.embeddings[0] if stack == "encoder" else side.embeddings).weight = model.table(words).numpy()
        if not rotary:
            side.position_encodings.encodings = position_table(model, words).numpy()
        if shape["pre_norm"]:
            fill(side.layer_norm, stack + ".final_norm")
        for i, layer in enumerate(side.layer):
            ours = f"{stack}.layers.{i}."
            fill_attention(layer.self_attention, ours + "self_attention", ("query", "key", "value"), ("output",))
            if stack == "decoder":
                fill_attention(layer.attention, ours + "cross_attention", ("query",), ("key", "value"), ("output",))
            fill(layer.ffn.layer_norm, ours + "feed_forward_sublayer.norm")
            fill(layer.ffn.linear_0, ours + "feed_forward.inner")
            fill(layer.ffn.linear_1, ours + "feed_forward.outer")
    spec.decoder.projection.weight = model.table("projection", "target").numpy()
    return spec


def write_ctranslate2(model, source, target, weights, folder):
    spec = ctranslate2_spec(model)
    spec.register_source_vocabulary(source.tokens)
    spec.register_target_vocabulary(target.tokens)
    spec.config.add_source_eos = True
    for name, token in (("unk", target.unk), ("bos", target.bos), ("eos", target.eos), ("decoder_start", target.bos)):
        setattr(spec.config, f"{name}_token", target.tokens[token])
    for name, side in (("source.spm", source), ("target.spm", target)):
        if side.sentencepiece:
            spec.register_file(str(side.sentencepiece), name)
    spec.validate()
    spec.optimize(quantization=weights if weights == "int8" else None)
    spec.save(str(folder))


def marian_weights(model, target, size):
    """Tensors by MarianMTModel's names, with embeddings of `size` rows. Marian's sinusoids are the paper's, but all sines
    precede all cosines: with them, features are reordered in every weight that reads or writes them. Its heads are
    d_model / heads wide, and it divides their scores by the root of that: queries are scaled."""
    config, width = model.config, model.config.d_model // model.config.heads
    order = torch.arange(config.d_model)
    if config.position == "sinusoidal":
        order = torch.cat([order[::2], order[1::2]])
    tensors = {}
    for name, tensor in with_head_width(model, width).items():
        if name.startswith(("source_embedding", "target_embedding")):
            continue  # learned positions, among the tables below
        if ".query." in name:
            tensor = tensor * (width / config.d_k) ** 0.5
        if re.search(r"\.(output|outer|norm)\.", name):
            tensor = tensor[order]
        elif tensor.dim() == 2:
            tensor = tensor[:, order]
        if ".layers." not in name:  # embeddings or projection
            tensor = F.pad(tensor, (0, 0, 0, size - len(tensor)))
        for ours, theirs in MARIAN_NAMES.items():
            name = name.replace(ours, theirs)
        tensors["lm_head.weight" if name == "projection_weight" else "model." + name] = tensor
        if name.endswith("_proj.weight"):
            tensors.setdefault(f"model.{name[:-6]}bias", torch.zeros(config.d_model))  # model.bias false
    tensors["final_logits_bias"] = -1e9 * (torch.arange(size) >= len(target.tokens)).float()[None]  # never padding
    for stack, side in (("encoder", "source"), ("decoder", "target")) if config.position != "sinusoidal" else ():
        tensors[f"model.{stack}.embed_positions.weight"] = position_table(model, side)
    return tensors


def write_huggingface(model, source, target, search, folder):
    from transformers import GenerationConfig, MarianConfig, MarianTokenizer
    config, positions = vars(model.config), len(position_table(model, "source"))
    padding = max(len(source.tokens), len(target.tokens))  # the config has one id for both sides
    special = {"pad_token_id": padding, "bos_token_id": target.bos, "eos_token_id": target.eos,
               "decoder_start_token_id": target.bos, "forced_eos_token_id": None}
    sizes = {f"{stack}_{theirs}": config.get(f"{stack}_{ours}", config[ours]) for stack in ("encoder", "decoder") for theirs, ours in
             (("layers", "layers"), ("attention_heads", "heads"), ("ffn_dim", "d_ff"))}
    sizes |= {name: config[name] for name in ("d_model", "dropout", "attention_dropout", "activation_dropout")}
    MarianConfig(**sizes, **special, architectures=["MarianMTModel"], activation_function=config["activation"],
                 max_position_embeddings=positions, scale_embedding=True, vocab_size=padding + 1,
                 decoder_vocab_size=padding + 1, share_encoder_decoder_embeddings=config["embedding_sharing"] == "all",
                 tie_word_embeddings=config["embedding_sharing"] != "none").save_pretrained(folder)
    beam = {"num_beams": search["beam"], "length_penalty": search["alpha"] if search["penalty"] == "power" else 0.0}
    beam = beam if search["beam"] > 1 else {}  # it rejects a length penalty without a beam
    GenerationConfig(**special, **beam, max_length=min(positions, 512)).save_pretrained(folder)
    write_weights(folder / "model.safetensors", marian_weights(model, target, padding + 1))
    files = {"vocab": source} if source is target else {"vocab": source, "target_vocab": target}
    for name, side in files.items():
        ids = {token: number for number, token in enumerate(side.tokens)} | {PADDING: padding}
        (folder / f"{name}.json").write_text(json.dumps(ids), encoding="utf8")
    warnings.simplefilter("ignore")  # the tokenizer recommends sacremoses, which is not needed
    tokenizer = MarianTokenizer(str(source.sentencepiece), str(target.sentencepiece),
                                *(folder / f"{name}.json" for name in files), separate_vocabs=len(files) == 2,
                                pad_token=PADDING, unk_token=target.tokens[target.unk],
                                eos_token=target.tokens[target.eos], model_max_length=positions,
                                clean_up_tokenization_spaces=False)
    tokenizer.save_pretrained(folder)


def export(options, folder):
    program, to = options.attn, options.to
    # Without input, attn names the checkpoint that it would translate with, after a check for damage.
    checkpoint = Path(re.search("^translating with (.+)$", run_attn(program, "translate", options.run)[1], re.M)[1])
    config = json.loads((checkpoint / "config.json").read_text(encoding="utf8"))
    # With words, attn shows all options that a translator can have.
    require_expressible(config, json.loads(run_attn(program, "config", "--set", "data.tokenizer=words")[0]), to)
    model, source = load(checkpoint).requires_grad_(False), read_side(program, checkpoint, "source")
    target = source if (checkpoint / "tokenizer.model").exists() else read_side(program, checkpoint, "target")
    require_expressible_vocabularies(source, target, to)
    print(f"exporting {checkpoint}", file=sys.stderr)
    if to == "ctranslate2":
        write_ctranslate2(model, source, target, options.weights, folder)
    else:
        write_huggingface(model, source, target, config["search"], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="run, RUN@best, RUN@last, RUN@average, RUN@STEP or checkpoint")
    parser.add_argument("--to", required=True, choices=SOME)
    parser.add_argument("--output", required=True, type=Path, help="directory to create")
    parser.add_argument("--weights", default="fp32", choices=("fp32", "int8"), help="int8 for ctranslate2 only")
    parser.add_argument("--attn", default="build/release/app/attn", help="the program (./run export gives it)")
    options = parser.parse_args()
    if options.to == "huggingface" and options.weights == "int8":
        sys.exit("export: --weights: int8: only for --to ctranslate2")
    if options.output.exists():
        sys.exit(f"export: {options.output}: exists, and is not replaced; give another --output, or delete it")
    try:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=options.output.name, dir=options.output.parent) as folder:
            made = Path(folder, "model")
            made.mkdir()
            export(options, made)
            made.rename(options.output)
    except ModuleNotFoundError as missing:
        sys.exit(f"export: needs the package {missing.name} (pip install {missing.name})")
    except (OSError, ValueError) as error:
        sys.exit(f"export: {error}")
    print(options.output)


if __name__ == "__main__":
    main()
