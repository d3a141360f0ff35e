"""Figures of results/ from JSON of the program; OUT is an .svg or .pdf file. Needs what the page needs.

    python3 tools/report/plots.py table1 TABLE1.json … OUT          times of results/table1, a panel for each width
    python3 tools/report/plots.py heads NAME=HEADS.json … OUT       `attn heads --prune`: BLEU by the share of heads masked,
        and of the last model every head by entropy and distance, sized by its importance
    python3 tools/report/plots.py maps ATTENTION.json LINE KIND:LAYER:HEAD … OUT
        weights of heads from `attn attention --json`; lines, layers and heads count from 1
"""
import json
import sys

from figures import pyplot, ticker
from numpy import diff, log, sign


def read(path):
    with open(path, encoding="utf8") as file:
        return json.load(file)


def panels(count, width, height):
    figure, axes = pyplot.subplots(1, count, figsize=(width * count, height), layout="constrained", squeeze=False)
    return figure, axes[0]


def draw_table1(points):
    """Circles mark where self-attention becomes slower than another layer type."""
    widths, lengths = (sorted({point[key] for point in points}) for key in ("width", "length"))
    layers = list(dict.fromkeys(point["layer"] for point in points))
    figure, axes = panels(len(widths), 2.6, 3.9)
    for axis, width in zip(axes, widths):
        times = {(point["layer"], point["length"]): 1e3 * (point["forward"] + point["backward"]) for point in points if point["width"] == width}
        for i, layer in enumerate(layers):
            of = [n for n in lengths if (layer, n) in times]
            axis.plot(of, [times[layer, n] for n in of], "--" if layer.startswith("restricted") else "-", marker=".", color=f"C{i}",
                      label=layer, linewidth=1.2)
            both = [n for n in of if (layers[0], n) in times]
            ratios = log([times[layers[0], n] / times[layer, n] for n in both])
            for k in [k for k, step in enumerate(diff(sign(ratios))) if step > 0 and "self-attention" not in layer]:
                share = -ratios[k] / (ratios[k + 1] - ratios[k])
                at = both[k] * (both[k + 1] / both[k]) ** share
                axis.plot(at, times[layer, both[k]] * (times[layer, both[k + 1]] / times[layer, both[k]]) ** share, "o", color=f"C{i}",
                          markersize=8, fillstyle="none")
        axis.set(xscale="log", yscale="log", title=f"d = {width}", xlabel="tokens of a sentence, n (log scale)")
        axis.set_xticks(lengths, [f"{n:,}" for n in lengths], fontsize=7)
        axis.xaxis.set_minor_locator(ticker.NullLocator())
        axis.grid(True)
    axes[0].set_ylabel(f"ms for {points[0]['tokens']:,} positions, one thread\nforward and backward (log scale)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def draw_heads(models):
    figure, (left, right) = panels(2, 4.5, 3.8)
    for name, model in models.items():
        total = len(model["heads"])
        left.plot([100 * step["masked"] / total for step in model["pruning"]], [step["bleu"] for step in model["pruning"]], marker=".",
                  label=f"{name}: {total} heads")
    left.set(xlabel="heads masked, %, least important first", ylabel="BLEU")
    for kind in ("encoder", "decoder", "cross"):
        heads = [head for head in model["heads"] if head["kind"] == kind]
        right.scatter([head["relative_entropy"] for head in heads], [head["distance"] for head in heads],
                      s=[400 * head["importance"] for head in heads], alpha=0.6, linewidths=0, label=kind)
    right.set(xlabel="entropy / ln(number of keys)", ylabel="distance of the attended position, mean", title=name)
    for axis in (left, right):
        axis.grid(True)
        axis.legend()
    return figure


def draw_maps(pages, line, heads):
    figure, axes = panels(len(heads), 3.4, 3.7)
    for axis, (kind, layer, head) in zip(axes, (name.split(":") for name in heads)):
        page = next(page for page in pages if page["name"] == f"line {line}, {kind}")
        axis.imshow(page["attn"][int(layer) - 1][int(head) - 1], cmap="Blues", vmin=0, vmax=1, aspect="auto")
        axis.set_xticks(range(len(page["right_text"])), page["right_text"], rotation=90, fontsize=7)
        axis.set_yticks(range(len(page["left_text"])), page["left_text"], fontsize=7)
        axis.set_title(f"{kind}, layer {layer}, head {head}")
    return figure


def main():
    kind, *files, out = sys.argv[1:] if len(sys.argv) > 3 else sys.exit(__doc__)
    if kind == "table1":
        figure = draw_table1([point for file in files for point in read(file)])
    elif kind == "heads":
        figure = draw_heads({name: read(path) for name, path in (file.split("=", 1) for file in files)})
    elif kind == "maps":
        figure = draw_maps(read(files[0]), files[1], files[2:])
    else:
        sys.exit(__doc__)
    figure.savefig(out, metadata={"Date": None} if out.endswith(".svg") else {"CreationDate": None})


if __name__ == "__main__":
    main()
