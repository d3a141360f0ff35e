#!/usr/bin/env python3
"""Imports runs into Weights & Biases with its own package (pip install wandb), config and metrics.

    python3 tools/wandb_import.py runs/tiny runs/other --project attn             # uploads; after wandb login
    python3 tools/wandb_import.py runs/tiny --offline --output DIR                # for `wandb sync` later
"""
import argparse
import json
import pathlib

from metrics_log import scalars

try:
    import wandb
except ImportError:
    raise SystemExit("wandb_import.py: needs the package wandb (pip install wandb)") from None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    parser.add_argument("--project", default="attn")
    parser.add_argument("--offline", action="store_true", help="write to OUTPUT/wandb only")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), help="folder of wandb's files")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for path in arguments.runs:
        if not (path / "config.json").exists():
            raise SystemExit(f"{path}: not a run: config.json is missing")
        config = json.loads((path / "config.json").read_text(encoding="utf8"))
        run = wandb.init(project=arguments.project, name=path.resolve().name, config=config, dir=str(arguments.output),
                         mode="offline" if arguments.offline else "online")
        run.define_metric("*", step_metric="step")
        for seconds, step, values in scalars(path):
            run.log({"step": step, "seconds": seconds, **values})
        run.finish()


if __name__ == "__main__":
    main()
