"""Edits of formulas, as a researcher would make them: formulas_test.py tries them."""
import dataclasses
import pathlib
import re

ALL = ("loss", "validation", "logprob", "translation")


@dataclasses.dataclass
class Edit:
    name: str
    model: str  # of MODELS
    changes: list  # (file, old, new)
    paths: tuple  # fast paths that must be off, and said to be
    follow: tuple = ALL  # what must change
    option: str = ""  # set in training, where the edit adds it; its hashes are renewed


def option_of_howto():
    """The hunks of docs/howto/formula.md, as (file, old, new)."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/howto/formula.md").read_text(encoding="utf8")
    changes = []
    for name, hunks in re.findall(r"^--- (\S+)\n@@\n(.*?)(?=^--- |^```)", text, re.M | re.S):
        for hunk in hunks.split("@@\n"):
            lines = hunk.splitlines(keepends=True)
            changes.append((name, *("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))))
    return changes


MODELS = {
    "transformer": {"layers": 2, "d_model": 32, "d_ff": 64, "heads": 4, "dropout": 0.1, "attention_dropout": 0.1},
    "lstm": {"architecture": "recurrent", "d_model": 24, "hidden": 24, "d_attention": 24, "cell": "lstm"},
    "convolutional": {"architecture": "convolutional", "d_model": 24, "encoder": [{"layers": 2, "width": 24, "kernel": 3}],
                      "decoder": [{"layers": 2, "width": 24, "kernel": 3}]},
    "bytenet": {"architecture": "bytenet", "d_model": 24, "hidden": 12, "repeats": 1},
}

EDITS = {edit.name: edit for edit in (
    Edit("equation_1", "transformer",
         [("model/transformer/attention.cpp", "scores_BHLM = scores_BHLM / std::sqrt(d_k);",
           "scores_BHLM = scores_BHLM / d_k;")], ("attention", "packed_search")),
    Edit("heads", "transformer",
         [("model/transformer/attention.cpp", "segments.unpad(heads_BHLK", "segments.unpad(0.5 * heads_BHLK")],
         ("attention", "packed_search", "transformer_step")),
    Edit("mask", "transformer",
         [("kernels/ops/attention.cpp", "if (window == 0) return visible;", "if (causal) visible = visible.triu(-2);\n  if (window == 0) return visible;")],
         ("attention", "packed_search", "transformer_step")),
    Edit("relu", "transformer",
         [("model/transformer/feed_forward.cpp", "return torch::relu(inner(x_ND));",
           "return torch::relu(inner(x_ND)).square();")], ("packed_search",)),
    Edit("norm", "transformer",
         [("model/layers/norm.cpp", "return torch::layer_norm(x_ND, {width_}, weight, bias, epsilon_);",
           "return torch::layer_norm(x_ND, {width_}, weight, bias, epsilon_) * 0.8;")], ("norm", "packed_search")),
    Edit("loss", "transformer",
         [("train/loss.cpp", "  return {loss, -at_target_N", "  return {10 * loss, -at_target_N")], ("loss",), ("loss",)),
    Edit("decoder_forward", "transformer",
         [("model/transformer/decoder.cpp", "torch::Tensor DecoderLayerImpl::forward(torch::Tensor x_ND,",
           "torch::Tensor DecoderLayerImpl::forward(torch::Tensor x_ND_,"),
          ("model/transformer/decoder.cpp", "  // Formula decoder_layer: fast paths packed_search, transformer_step.\n",
           "  // Formula decoder_layer: fast paths packed_search, transformer_step.\n"
           "  torch::Tensor x_ND = feed_forward_sublayer->forward(\n"
           "      x_ND_, [&](const torch::Tensor& x) { return feed_forward(x); });\n")],
         ("packed_search", "transformer_step")),
    Edit("sinusoids", "transformer",
         [("model/transformer/position.cpp", "-std::log(10000.0) / steps", "-std::log(10.0) / steps")], ()),
    Edit("lstm_gate", "lstm",
         [("model/layers/recurrence.cpp", "forget * before.cell + input * update", "forget * before.cell + update")], ("lstm",)),
    Edit("glu", "convolutional",
         [("model/convolutional/layers.cpp", "return torch::glu(product(window), 1);",
           "const auto halves = product(window).chunk(2, 1);\n  return halves[0] * torch::tanh(halves[1]);")], ()),
    Edit("dot_attention", "convolutional",
         [("model/convolutional/layers.cpp", "rows.pad(sums_ND * kHalfRoot)", "rows.pad(sums_ND * 2.0)")],
         ("dot_attention",)),
    Edit("dilation", "bytenet",
         [("model/bytenet/bytenet.cpp", ".dilation = dilation,", ".dilation = dilation + 1,")], ()),
    Edit("option", "transformer", option_of_howto(), (), option="model.sigmoid_attention=true"),
)}

# In one build, since they are formulas of different models.
QUICK = ("equation_1", "lstm_gate", "dot_attention")
