"""The report of tools/gpu_check in Markdown."""

LAST_LINES = 40
PRECISIONS = ("bf16", "fp32")


def table(head, rows):
    return [f"| {' | '.join(head)} |", "|" + " --- |" * len(head),
            *(f"| {' | '.join(str(cell).replace('|', '/') for cell in row)} |" for row in rows), ""]


def verdict(check, finished):
    failed = f"{len(check.failures)} of {len(check.steps)} steps: {'; '.join(name for name, *_ in check.failures)}"
    if not finished:
        words = f"NOT FINISHED after {len(check.steps)} steps" + (f", FAILED {failed}" if check.failures else "")
    else:
        words = f"FAILED {failed}" if check.failures else f"PASSED all {len(check.steps)} steps"
    where = " (on the CPU in tiny sizes: says nothing about a GPU)" if check.options.on_cpu else ""
    return f"# GPU check: {words} in {check.seconds():.0f} s{where}"


def speed_row(check, model, precision, system):
    attn, found = (check.speeds.get((model, precision, name)) for name in ("attn", system))
    if not found:
        return [model, precision, system] + ["–"] * 5
    ratio = share = "–"
    if attn:
        peak = check.peaks.get(precision, attn["peak_flops"])
        share = f"{found['rate'] * attn['flops'] / peak:.1%}"
        if system != "attn":
            ratio = f"{attn['rate'] / found['rate']:.2f} ×"
    memory = f"{found['memory'] / 1e9:.2f}"
    return [model, precision, system, f"{found['rate']:,.0f}", ratio, share, memory, found["steps"]]


def speed_section(check):
    rows = [speed_row(check, model.name, precision, system) for model in check.models for precision in PRECISIONS
            for system in ("attn", *check.options.peers)]
    return ["## Training step", "",
            "Synthetic pairs in batches of the config's size. eager and compiled are tools/peers/pytorch_step.py; "
            "compiled: torch.compile of the embedding, each kind of layer and the loss; the time of compilation is "
            "excluded. Share of peak: matrix products in closed form. Memory on a GPU: the most that was reserved.", "",
            *table(("model", "precision", "system", "target tokens/s", "attn is faster by", "share of peak",
                    "peak memory, GB", "updates measured"), rows)]


def training_section(check):
    sizes = check.sizes
    same = "have the same weights" if sizes.same_weights else f"differ by {sizes.near:.0%} at most"
    rows = [(name, run["updates"], f"{run['ppl']:.6g}", run["same"], run["first"], f"{run['rate']:,.0f}",
             f"{run['memory'] / 1e9:.2f}") for name, run in check.runs.items()]
    return ["## Training", "",
            f"experiments/demo.json in bf16. Required: a validation perplexity below {sizes.bound:g}, and that the "
            f"second and the resumed start {same}.", "",
            *table(("start", "updates", "perplexity", "weights of the first start",
                    "first logged update with another loss", "target tokens/s", "peak memory, GB"), rows)]


def failure_section(name, why, output):
    section = [f"## FAILED: {name}", "", why, ""]
    if output:
        section += ["```", *output.rstrip().splitlines()[-LAST_LINES:], "```", ""]
    return section


def report(check, finished):
    lines = [verdict(check, finished), "", *table(("machine", ""), check.machine)]
    lines += table(("step", "result", "seconds", "limit", "detail"), check.steps)
    if check.tests:
        lines += ["## Tests with the label gpu", "", *table(("test", "result"), check.tests)]
    if check.speeds:
        lines += speed_section(check)
    if check.runs:
        lines += training_section(check)
    if check.searches:
        lines += ["## Search", "", f"Required: BLEU scores that differ by {check.near_bleu} at most.", "",
                  *table(("device", "BLEU", "seconds"), check.searches)]
    for failure in check.failures:
        lines += failure_section(*failure)
    return "\n".join(lines)
