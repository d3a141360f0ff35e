"""The report of tools/gpu_check in Markdown, computed from the files that its steps write."""
import json
from statistics import median

BEST = "PyTorch, best effort"


def read_steps(folder):
    """{name: what the step wrote}"""
    steps = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return {step["step"]: step for step in steps}


def table(head, rows):
    return [f"| {' | '.join(head)} |", "|" + " --- |" * len(head),
            *(f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |" for row in rows), ""]


def verdict(steps):
    names = [name for name, step in steps.items() if step["result"] not in ("passed", "skipped")]
    words = f"FAILED {len(names)} of {len(steps)} steps: {'; '.join(names)}" if names else f"PASSED all {len(steps)} steps"
    on_cpu = any(step["on_cpu"] for step in steps.values())
    return words + (" (on the CPU in tiny sizes: says nothing about a GPU)" if on_cpu else "")


def speeds(steps):
    """{(model, system, precision): medians of its rate, of attn's in bf16 divided by it, and of its memory}"""
    found = {}
    for name, step in steps.items():
        rounds = step.get("rounds", [])
        attn = {r["round"]: r["tokens_per_second"] for r in rounds if (r["system"], r["precision"]) == ("attn", "bf16")}
        for key in dict.fromkeys((r["system"], r["precision"]) for r in rounds):
            own = [r for r in rounds if (r["system"], r["precision"]) == key]
            ratios = [attn[r["round"]] / r["tokens_per_second"] for r in own if r["round"] in attn]
            found[(name.removeprefix("speed-"), *key)] = (median(r["tokens_per_second"] for r in own), median(ratios) if ratios else None,
                                                          median(r["memory"] for r in own))
    return found


def speed_rows(steps):
    """{model, system, precision: {column: figure}}; the fastest variant of the peer counts as its best effort."""
    found, rows = speeds(steps), {}
    for (model, system, precision), (rate, ratio, memory) in found.items():
        peers = [entry[0] for key, entry in found.items() if key[0] == model and not key[1].startswith("attn")]
        label = f"{system} ({BEST})" if not system.startswith("attn") and rate == max(peers) else system
        attn = system == "attn" and precision == "bf16"
        rows[f"{model}: {label}, {precision}"] = {
            "target tokens/s": f"{rate:,.0f}",
            "attn in bf16 is faster by": "" if attn or not ratio else f"{ratio:.2f} ×", "memory, GB": f"{memory / 1e9:.2f}"}
    return rows


def report(steps):
    order = ["machine", "tests", "training", "trace", "speed", "parts", "sweep"]
    steps = dict(sorted(steps.items(), key=lambda item: (order.index(item[0].split("-")[0]), item[0])))
    lines = [f"# GPU check: {verdict(steps)}", "", "Written by tools/gpu_check from the files beside it.", "",
             *table(("machine", ""), steps.get("machine", {}).get("facts", {}).items()),
             *table(("step", "result", "seconds", "limit", "detail"),
                    [(name, step["result"], step.get("seconds", ""), step["limit"], step["detail"])
                     for name, step in steps.items()])]
    if rows := speed_rows(steps):
        lines += ["## Training step", "",
                  "The same synthetic pairs in the same batches, of the config's size; medians of the rounds, and of",
                  "the rounds' ratios. All but attn: variants of tools/peers/pytorch_step.py after their warm-up.",
                  "Memory on a GPU: the most that was reserved.", "",
                  *table(("system", *next(iter(rows.values()))), [(label, *row.values()) for label, row in rows.items()])]
    if tests := steps.get("tests", {}).get("tests"):
        lines += ["## Tests with the label gpu", "", *table(("test", "result"), tests.items())]
    for name, step in steps.items():
        lines += [f"## {name}", "", *("    " + line for line in step["trace"]), ""] if "trace" in step else []
    return "\n".join(lines).rstrip("\n") + "\n"
