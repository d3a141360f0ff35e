"""Trains the runs of experiments/queue.json in their order, one at a time on one core, until the hours are over.

    nohup nice -n 19 python3 tools/run_queue.py build/release/app/attn --hours 2.5 > queue.log &

Run it from a worktree of the commit to which a table is pinned. Takes the next entry that this processor can run and
that fits into the hours left. An entry is a sweep file, rows (--only) and the directory runs/NAME; finished runs are
collected into results/ as the file's "about" says, and are not trained again, nor are those of the archive there, which
is unpacked first. At the end of the hours, or of this process by SIGTERM, the sweep gets SIGTERM and saves: on the same
machine it resumes, on another the run begins again.
"""
import argparse
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import results

EXPERIMENTS = Path("experiments")


def supports(processor):
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return processor == "any" or bool(re.search(r"\b(avx512_bf16|amx_bf16)\b", flags))


def command(attn, entry):
    """attn sweep with the --run and --collect that the sweep file's "about" names, and the folder of the latter."""
    file = EXPERIMENTS / entry["sweep"]
    about = json.loads(file.read_text(encoding="utf-8"))["about"]
    places = re.search(r"--run \S+ --collect \S+", about)
    if not places:
        raise SystemExit(f"{file}: its \"about\" has no command with --run and --collect")
    line = [attn, "sweep", str(file), *places.group().split(), "--only", entry["only"], "--threads", "1"]
    return line, Path(places.group().split()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("attn")
    parser.add_argument("--hours", type=float, required=True)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    end = time.monotonic() + 3600 * options.hours
    for entry in json.loads((EXPERIMENTS / "queue.json").read_text(encoding="utf-8"))["runs"]:
        line, collected = command(options.attn, entry)
        left = end - time.monotonic()
        if not supports(entry.get("processor", "any")):
            print(f"skipped, needs bf16 products: {' '.join(line)}", flush=True)
        elif left < 3600 * entry["hours"]:
            print(f"skipped, {entry['hours']} h a run and {left / 3600:.1f} h left: {' '.join(line)}", flush=True)
        else:
            print(" ".join(line), flush=True)
            results.restore(collected.parent)
            with subprocess.Popen(line, stdin=subprocess.DEVNULL) as sweep:
                try:
                    sweep.wait(left)
                except subprocess.TimeoutExpired:
                    pass
                finally:
                    sweep.terminate()
            if sweep.returncode:
                print(f"stopped with exit status {sweep.returncode}", flush=True)


if __name__ == "__main__":
    main()
