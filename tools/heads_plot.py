#!/usr/bin/env python3
"""Draws what heads do, from the JSON of `attn heads --prune` and of `attn attention`.

    python3 tools/heads_plot.py curves NAME=HEADS.json … OUT.svg
        BLEU by the share of heads masked, a curve for each model; for the last model every head by
        its normalized entropy and mean distance, sized by its importance.
    python3 tools/heads_plot.py maps ATTENTION.json LINE KIND:LAYER:HEAD … OUT.svg
        The weights of some heads for one line (1: the first); KIND is encoder, decoder or cross,
        layers and heads count from 1.

Needs matplotlib.
"""
import json
import sys

KINDS = ("encoder", "decoder", "cross")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def pyplot():
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "attn", "font.size": 9})
    return pyplot


def curves(models, path):
    """models: [(name, JSON of attn heads)]."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    for name, model in models:
        total = len(model["heads"])
        left.plot([100 * step["masked"] / total for step in model["pruning"]], [step["bleu"] for step in model["pruning"]],
                  marker=".", linewidth=1.2, label=f"{name}: {total} heads")
    left.set(xlabel="heads masked, %, least important first", ylabel="BLEU")
    left.grid(True, linewidth=0.3)
    left.legend(fontsize=8)
    name, model = models[-1]
    for i, kind in enumerate(KINDS):
        heads = [head for head in model["heads"] if head["kind"] == kind]
        right.scatter([head["relative_entropy"] for head in heads], [head["distance"] for head in heads],
                      s=[400 * head["importance"] for head in heads], color=f"C{i}", alpha=0.6, linewidths=0, label=kind)
    right.set(xlabel="entropy / ln(number of keys)", ylabel="distance of the attended position, mean", title=name)
    right.grid(True, linewidth=0.3)
    right.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def maps(pages, line, heads, path):
    """pages: JSON of attn attention; heads: KIND:LAYER:HEAD."""
    plt = pyplot()
    figure, axes = plt.subplots(1, len(heads), figsize=(3.4 * len(heads), 3.7), layout="constrained", squeeze=False)
    for axis, name in zip(axes.flat, heads):
        kind, layer, head = name.split(":")
        page = next((page for page in pages if page["name"] == f"line {line}, {kind}"), None)
        if page is None:
            sys.exit(f"no line {line}, {kind}; there are: " + "; ".join(page["name"] for page in pages[:6]) + " …")
        weights = page["attn"][int(layer) - 1][int(head) - 1]
        axis.imshow(weights, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axis.set_xticks(range(len(page["right_text"])), page["right_text"], rotation=90, fontsize=7)
        axis.set_yticks(range(len(page["left_text"])), page["left_text"], fontsize=7)
        axis.set_title(f"{kind}, layer {layer}, head {head}", fontsize=9)
    figure.savefig(path, metadata={"Date": None})


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == "curves" and all("=" in argument for argument in sys.argv[2:-1]):
        curves([(name, read(path)) for name, path in (argument.split("=", 1) for argument in sys.argv[2:-1])], sys.argv[-1])
    elif len(sys.argv) >= 6 and sys.argv[1] == "maps":
        maps(read(sys.argv[2]), sys.argv[3], sys.argv[4:-1], sys.argv[-1])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
