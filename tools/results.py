"""Packs the runs of a table of results/: runs.csv, curves.csv (40 points a run) and runs.tar.xz.

    tar -xJf results/table3/runs.tar.xz -C results/table3       unpacks the runs into the folders they had
    python3 tools/results.py results/table3 [--attn build/release/app/attn] [--remove]

Unpacks what the archive has and the folders lack, so that no packed run is lost, then reads all runs in folders of the
table (attn sweep --collect results/table3/runs adds some): folders with config.json, metrics.jsonl, result.json,
run.json, log.txt and eval/; metrics logs NAME.jsonl of runs without a folder; and outputs NAME.txt with their scores in
NAME.json. In the archive, log.txt lacks the lines that repeat the metrics.
--attn computes chrF, which needs the references in corpora/ (data/fetch); without it, chrF of the outputs already in
runs.csv is kept. --remove removes the packed files afterwards.

runs.csv: folder, row, seed, updates, parameters, target tokens; EVALUATOR.METRIC of the scored weights (chrf is chrF2);
precision, processor or GPU, commit of the program (+: uncommitted changes); the output, relative to the table, and its
SHA-256. Empty where it was not recorded. curves.csv: perplexity of training (the last one logged) and the scores of the
evaluators by number of updates, weights not averaged.
"""
import argparse
import csv
import dataclasses
import hashlib
import io
import json
import lzma
import re
import subprocess
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

POINTS = 40
METRICS = ("ppl", "bleu", "bp", "length_ratio", "f1", "strict_f1")
PAGES = (".md", ".svg", ".html", ".csv", ".xz")
REPEATED = re.compile(r"^(step|average)\s.*\n", re.M)  # lines of log.txt


@dataclasses.dataclass
class Run:
    folder: str
    row: str
    seed: str
    config: dict
    records: list  # of the metrics log
    facts: dict  # run.json
    result: dict  # result.json
    scores: dict  # {evaluator: {metric: value}} of the scored weights
    output: Path = None
    precision: str = ""


def read_json(path):
    return json.loads(path.read_text(encoding="utf8")) if path.is_file() else {}


def final_scores(records):
    """Those of the averaged or best weights where there are some, else of the last evaluation."""
    return {r["name"]: r for r in records if r["kind"] in ("eval", "average", "best")}


def place(table, path, name):
    """Folder, row and seed of ROW/seed-1, ROW.seed-1, ROW-seed-1-KIND, ROW/seed1.metrics or ROW."""
    parts = list(path.parent.relative_to(table).parts)
    match = re.fullmatch(r"(?:(.+?)[.-])?seed-?(\d+)(?:\.metrics)?(?:-(.+))?", name)
    row = (match[1] or parts.pop()) + (f".{match[3]}" if match[3] else "") if match else name
    return "/".join(parts), row, match[2] if match else ""


def read_runs(table):
    """The runs below a folder of results/, sorted by folder, row and seed."""
    runs = []
    for log in sorted(table.rglob("*.jsonl")):
        records = [json.loads(line) for line in log.read_text(encoding="utf8").splitlines()]
        home = log.parent
        whole = log.name == "metrics.jsonl"
        folder, row, seed = place(table, home, home.name) if whole else place(table, log, log.stem)
        config, facts, result = (read_json(home / f"{name}.json") for name in ("config", "run", "result"))
        text = (home / "log.txt").read_text(encoding="utf8") if whole and (home / "log.txt").is_file() else ""
        precision = facts.get("precision") or (re.findall(r"precision (bf16|fp32)", text) or [""])[-1]
        scores = {name: entry["values"] for name, entry in result.get("results", {}).items()} or final_scores(records)
        recorded = [home / entry.get("output", "") for entry in result.get("results", {}).values()]
        outputs = [path for path in recorded if path.is_file()] or sorted((home / "eval").glob("*.txt")) if whole else []
        runs.append(Run(folder, row, seed or str(config.get("seed", "")), config, records, facts, result, scores,
                        outputs[0] if outputs else None, precision))
    for output in sorted(table.rglob("*.txt")):
        if output.with_suffix(".json").is_file():
            folder, row, seed = place(table, output, output.stem)
            trained = [run for run in runs if run.row == row.rpartition(".")[0] and run.seed == seed]
            runs.append(Run(folder, row, seed, trained[0].config if trained else {}, [], {}, {},
                            read_json(output.with_suffix(".json")), output))
    return sorted(runs, key=lambda run: (run.folder, run.row, run.seed))


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def reference_of(run, corpora):
    """The BLEU evaluator of the run's output and its reference in `corpora`; None without one of them."""
    for test in run.config.get("eval", []) if run.output else []:
        text = Path(f"{test.get('data') or run.config['data']['valid']}.{run.config['data'].get('target')}")
        if test["kind"] == "bleu" and (not run.result or run.output.stem.rpartition("-")[0] == test["name"]) and text.is_relative_to("corpora"):
            reference = corpora / text.relative_to("corpora")
            return (test, reference) if reference.is_file() else None
    return None


def rescore(attn, run, corpora):
    """BLEU, brevity penalty and chrF2 of a run's output by `attn score`; None without an output or its reference."""
    found = reference_of(run, corpora)
    if not found:
        return None
    test, reference = found
    def score(metric, *options):
        return json.loads(subprocess.check_output([attn, "score", metric, run.output, reference, "--json", *options]))
    bleu = score("bleu", "--tokenize", test["tokenize"], "--force")
    return {"bleu": bleu["score"], "bp": bleu["bp"], "chrf": score("chrf")["score"]}


def rescore_all(attn, runs, corpora):
    """{SHA-256 of the output: scores}, each output once, two at a time."""
    first = {sha256(run.output): run for run in runs if run.output}
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda run: rescore(attn, run, corpora), first.values())
        return {digest: scores for digest, scores in zip(first, found) if scores}


def run_line(table, run, chrf):
    step = run.result.get("step") or max((r["step"] for r in run.records), default="")
    tokens = max((r["target_tokens"] for r in run.records if r["kind"] == "train"), default="")
    line = {"folder": run.folder, "row": run.row, "seed": run.seed, "updates": step,
            "parameters": run.result.get("parameters", ""), "target_tokens": tokens}
    for name, values in sorted(run.scores.items()):
        line.update({f"{name}.{metric}": f"{values[metric]:.6f}" for metric in METRICS if metric in values})
    if run.output:
        digest = sha256(run.output)
        if digest in chrf:
            line[f"{run.output.stem.rpartition('-')[0] if run.result else 'test2016'}.chrf"] = chrf[digest]
        line.update(output=run.output.relative_to(table).as_posix(), sha256=digest)
    return line | {"precision": run.precision, "commit": run.facts.get("commit", ""),
                   "processor": run.facts.get("gpu", run.facts.get("processor", ""))}


def curve_lines(run):
    by_step, training = {}, {}
    for record in run.records:
        if record["kind"] == "train":
            training[record["step"]] = record["ppl"]
        elif record["kind"] == "eval":
            values = {f"{record['name']}.{m}": f"{record[m]:.5g}" for m in METRICS if m in record}
            by_step.setdefault(record["step"], {}).update(values)
    by_step = by_step or {step: {} for step in training}
    steps = sorted(by_step)
    kept = sorted({round(i * (len(steps) - 1) / (POINTS - 1)) for i in range(POINTS)}) if steps else []
    for step in (steps[i] for i in kept):
        before = [s for s in training if s <= step]
        yield {"folder": run.folder, "row": run.row, "seed": run.seed, "updates": step,
               "train.ppl": f"{training[max(before)]:.5g}" if before else ""} | by_step[step]


def as_csv(lines, last=()):
    columns = [c for c in dict.fromkeys(c for line in lines for c in line) if c not in last]
    fixed = [c for c in columns if "." not in c or c == "train.ppl"]
    columns = fixed + sorted(set(columns) - set(fixed)) + list(last)
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()


def tables(table, runs, chrf):
    """The texts of runs.csv and curves.csv."""
    last = ("precision", "processor", "commit", "output", "sha256")
    return (as_csv([run_line(table, run, chrf) for run in runs], last), as_csv([line for run in runs for line in curve_lines(run)]))


def known_chrf(table):
    """{SHA-256: chrF} of the outputs in runs.csv."""
    if not (table / "runs.csv").is_file():
        return {}
    with open(table / "runs.csv", encoding="utf8", newline="") as file:
        return {line["sha256"]: value for line in csv.DictReader(file)
                for column, value in line.items() if column.endswith(".chrf") and value}


def pack(table, files):
    """Files of a kind lie side by side, so that similar ones compress each other."""
    whole = table / "runs.tar.xz.new"
    with lzma.open(whole, "wb", preset=9 | lzma.PRESET_EXTREME) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files, key=lambda path: (re.sub(r"\d+", "", path.name), path.as_posix())):
            data = path.read_bytes()
            if path.name == "log.txt":
                data = REPEATED.sub("", data.decode()).encode()
            member = tarfile.TarInfo(path.relative_to(table).as_posix())
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    whole.replace(table / "runs.tar.xz")


def unpack(archive, to):
    """Extracts the files that are not there yet, each whole or not at all."""
    to.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive) as packed, tempfile.TemporaryDirectory(dir=to) as folder:
        packed.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        for path in filter(Path.is_file, Path(folder).rglob("*")):
            target = to / path.relative_to(folder)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)


def restore(table):
    """Unpacks the table's archive, if there is one."""
    if (table / "runs.tar.xz").is_file():
        unpack(table / "runs.tar.xz", table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--attn", type=Path, help="the program, for chrF")
    parser.add_argument("--corpora", type=Path, default=Path("corpora"))
    parser.add_argument("--remove", action="store_true", help="remove the packed files")
    arguments = parser.parse_args()
    table = arguments.table
    restore(table)
    runs = read_runs(table)
    files = [path for folder in table.iterdir() if folder.is_dir() for path in folder.rglob("*")
             if path.is_file() and path.suffix not in PAGES]
    if not runs:
        raise SystemExit(f"{table}: no runs")
    chrf = known_chrf(table)
    if arguments.attn:
        scores = rescore_all(arguments.attn, runs, arguments.corpora)
        chrf.update({digest: f"{entry['chrf']:.6f}" for digest, entry in scores.items()})
    for name, text in zip(("runs.csv", "curves.csv"), tables(table, runs, chrf)):
        (table / name).write_text(text, encoding="utf8")
    pack(table, files)
    if arguments.remove:
        for path in files:
            path.unlink()
        for folder in sorted((path for path in table.rglob("*") if path.is_dir()), reverse=True):
            if not any(folder.iterdir()):
                folder.rmdir()
    print(f"{table}: {len(runs)} runs, {len(files)} files")


if __name__ == "__main__":
    main()
