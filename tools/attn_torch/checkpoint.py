"""Loads and saves the checkpoints of attn (docs/reference/checkpoint.md)."""
import ctypes
import json
import math
import shutil
import struct
from pathlib import Path
from types import SimpleNamespace

import torch

from .baselines import ByteNet, Convolutional, Recurrent
from .transformer import Transformer

ARCHITECTURES = {"transformer": Transformer, "recurrent": Recurrent, "convolutional": Convolutional, "bytenet": ByteNet}
CONFIG, WEIGHTS = "config.json", "model.safetensors"
VOCABULARIES = ("tokenizer.model", "source.model", "target.model", "tags.txt", "features.txt", "pieces.model")


def read_weights(path):
    """{name: tensor} of a safetensors file: 8 bytes with the header's length, the header in JSON, the numbers. Raises
    ValueError for a file that is no such or whose tensors are not float32."""
    data = Path(path).read_bytes()
    body = 8 + struct.unpack("<Q", data[:8])[0] if len(data) >= 8 else math.inf
    if body > len(data):
        raise ValueError(f"{path}: not a safetensors file, or truncated")
    try:
        header, weights = json.loads(data[8:body]), {}
        header.pop("__metadata__", None)
        for name, entry in header.items():
            (begin, end), shape = entry["data_offsets"], entry["shape"]
            if not (entry["dtype"] == "F32" and all(n >= 0 for n in shape) and 0 <= begin <= end <= len(data) - body
                    and end - begin == 4 * math.prod(shape)):
                raise ValueError(name)
            weights[name] = torch.frombuffer(bytearray(data[body + begin:body + end]), dtype=torch.float32).reshape(shape)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path}: invalid header or tensor: {error}") from None
    return weights


def write_weights(path, weights):
    weights, header, end = dict(sorted(weights.items())), {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in weights.items():
        begin, end = end, end + 4 * tensor.numel()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in weights.values():
            tensor = tensor.detach().to("cpu", torch.float32).contiguous()
            file.write(ctypes.string_at(tensor.data_ptr(), 4 * tensor.numel()))


def resolved(options):
    """The object "model" of a config with numbers for "auto"."""
    heads, width = options.get("heads", 1), options["d_model"] // options.get("heads", 1)
    derived = {"decoder_layers": options.get("layers"), "kv_heads": heads, "d_k": width, "d_v": width}
    return derived | {name: derived[name] if value == "auto" else value for name, value in options.items()}


def make_model(options, sizes):
    """The model of the object "model" of a config, without values. sizes: rows of the matrices of embeddings."""
    config = json.loads(json.dumps(resolved(options)), object_hook=lambda fields: SimpleNamespace(**fields))
    return ARCHITECTURES[config.architecture](config, sizes)


def require_published_formulas(checkpoint):
    """Raises ValueError if the checkpoint's run computed a formula that was edited: here they are as published."""
    checkpoint = Path(checkpoint).absolute()
    for run in (checkpoint, checkpoint.parent, checkpoint.parent.parent):
        for facts in (run / "run.json", run / "result.json"):
            if edited := facts.exists() and json.loads(facts.read_text(encoding="utf8")).get("as_read"):
                raise ValueError(f"{facts}: ran as read: {', '.join(edited)}: this module has the formulas as published; "
                                 "give a run that was trained with them")


def load(checkpoint):
    """The model of a checkpoint's directory, such as RUN/averaged, in evaluation mode; train() turns on dropout."""
    config, weights = Path(checkpoint, CONFIG), Path(checkpoint, WEIGHTS)
    if not weights.exists():
        raise ValueError(f"{checkpoint}: no {WEIGHTS}; give RUN/averaged or one of RUN/checkpoints/step-…")
    require_published_formulas(checkpoint)
    options, tensors = json.loads(config.read_text(encoding="utf8"))["model"], read_weights(weights)
    sizes = {name.removesuffix("_weight"): len(rows) for name, rows in tensors.items() if rows.dim() == 2}
    with torch.device("meta"):  # the weights are the file's
        model = make_model(options, sizes)
    model.load_state_dict(tensors, assign=True)
    return model.eval()


def save(model, checkpoint, like):
    """Writes a new checkpoint, with the config and the vocabularies of `like`, the one that the model came from. All
    commands and train.init_from take it; it has no optimizer state, so a run cannot be resumed from it."""
    Path(checkpoint).mkdir(parents=True)  # an existing one is not replaced
    write_weights(Path(checkpoint, WEIGHTS), model.state_dict())
    for name in (*VOCABULARIES, CONFIG):
        if Path(like, name).exists():
            shutil.copy(Path(like, name), checkpoint)


def read_vocabulary(text):
    """{piece: id} of the output of `attn vocab`."""
    return {piece: int(number) for number, _, piece in (line.partition("\t") for line in text.rstrip("\n").split("\n"))}
