"""Writes the metrics of runs for TensorBoard or Weights & Biases, by the writers of these packages.

    python3 tools/metrics_log.py runs/tiny runs/other --to tensorboard --output events        # pip install tensorboard
    python3 tools/metrics_log.py runs/tiny --to wandb --project attn        # pip install wandb, wandb login: uploads
    python3 tools/metrics_log.py runs/tiny --to wandb --offline --output DIR                  # for `wandb sync` later
"""
import argparse
import json
import math
import os
from pathlib import Path


def scalars(run):
    """Yields (seconds, step, {name: value}) in the order of the log: train/loss, test/bleu, average/test/bleu. Seconds
    are those in training so far. Numbers that are not finite and texts are left out."""
    path, seconds = run / "metrics.jsonl", 0.0
    try:
        lines = path.read_text(encoding="utf8").splitlines()
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror}; give a run") from None
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            kind, step = record.pop("kind"), int(record.pop("step"))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise SystemExit(f"{path}:{number}: not a record of a run's metrics ({error})") from None
        prefix = {"eval": record.get("name"), "average": f"average/{record.get('name')}", "best": f"best/{record.get('name')}"}.get(kind, kind)
        if kind == "train":
            seconds = float(record.pop("seconds", seconds))
        yield seconds, step, {f"{prefix}/{key}": float(value) for key, value in record.items()
                              if isinstance(value, (int, float)) and math.isfinite(value)}


def write_tensorboard(folder, start, records):
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter
    for former in folder.glob("events.out.tfevents.*"):
        former.unlink()  # TensorBoard would show both
    writer = EventFileWriter(str(folder))
    for seconds, step, values in records:
        summary = Summary(value=[Summary.Value(tag=name, simple_value=value) for name, value in values.items()])
        writer.add_event(Event(wall_time=start + seconds, step=step, summary=summary))
    writer.close()


def write_wandb(run, records, options):
    import wandb
    log = wandb.init(project=options.project, name=run.name, config=json.loads((run / "config.json").read_text()),
                     dir=str(options.output), mode="offline" if options.offline else "online")
    log.define_metric("*", step_metric="step")
    for seconds, step, values in records:
        log.log({"step": step, "seconds": seconds, **values})
    log.finish()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--to", required=True, choices=("tensorboard", "wandb"))
    parser.add_argument("--output", type=Path, default=Path("."), help="folder of the files that are written")
    parser.add_argument("--project", default="attn", help="wandb's project")
    parser.add_argument("--offline", action="store_true", help="wandb: do not upload")
    options = parser.parse_args()
    logs = {run.resolve(): list(scalars(run)) for run in options.runs}
    common = Path(os.path.commonpath([run.parent for run in logs]))  # all runs of a sweep are called seed-1, seed-2, …
    for run, records in logs.items():
        folder = options.output / run.relative_to(common) if options.to == "tensorboard" else options.output
        folder.mkdir(parents=True, exist_ok=True)
        try:
            if options.to == "tensorboard":
                write_tensorboard(folder, (run / "config.json").stat().st_mtime, records)
            else:
                write_wandb(run, records, options)
        except ModuleNotFoundError as missing:
            raise SystemExit(f"metrics_log.py: needs the package {missing.name} (pip install {missing.name})") from None
        print(f"{folder}: {len(records)} records of {run.name}")


if __name__ == "__main__":
    main()
