"""Scalars of a run's metrics.jsonl, for tensorboard_events.py and wandb_import.py."""
import json
import math
import pathlib


def scalars(run):
    """Yields (seconds, step, {name: value}) in the order of the log: train/loss, test/bleu, average/test/bleu. Seconds
    are those in training so far. Numbers that are not finite and texts are left out."""
    path = pathlib.Path(run)
    path = path / "metrics.jsonl" if path.is_dir() else path
    seconds = 0.0
    try:
        lines = path.read_text(encoding="utf8").splitlines()
    except OSError as error:
        raise SystemExit(f"{path}: {error.strerror}; give a run, or its metrics.jsonl") from None
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            kind, step = record.pop("kind"), int(record.pop("step"))
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise SystemExit(f"{path}:{number}: not a record of a run's metrics ({error})") from None
        prefix = {"train": "train", "eval": record.get("name"), "average": f"average/{record.get('name')}"}.get(kind, kind)
        if kind == "train":
            seconds = float(record.pop("seconds", seconds))
        yield seconds, step, {f"{prefix}/{key}": float(value) for key, value in record.items()
                              if isinstance(value, (int, float)) and math.isfinite(value)}
