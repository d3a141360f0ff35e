"""Shared code of the scripts that run Marian."""

TRAIN = "import _pymarian, sys; sys.exit(_pymarian.Trainer(sys.argv[1]).train())"


def command_line(**options):
    """Options as Marian takes them: one string; an empty value is a flag."""
    return " ".join(f"--{name.replace('_', '-')} {value}".strip() for name, value in options.items())


def model_options(layers, width, inner, heads):
    """The paper's model with one vocabulary."""
    return dict(type="transformer", enc_depth=layers, dec_depth=layers, dim_emb=width, transformer_dim_ffn=inner,
                transformer_ffn_activation="relu", transformer_heads=heads, tied_embeddings_all="")
