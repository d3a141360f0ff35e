"""The models of attn in PyTorch: load a checkpoint, compute with it, train it further, save it (docs/howto/python.md).

    from attn_torch import batch, load
    model = load("runs/tiny/averaged")
    source, target, expected = batch([[5, 6]], [[7, 8]], bos=1, eos=2)
    logits = model(source, target)      # [sentences, target positions, vocabulary]
"""
from .checkpoint import load, make_model, read_vocabulary, read_weights, resolved, save, write_weights
from .layers import PADDING, batch, pad

__all__ = ["PADDING", "batch", "load", "make_model", "pad", "read_vocabulary", "read_weights", "resolved", "save", "write_weights"]
