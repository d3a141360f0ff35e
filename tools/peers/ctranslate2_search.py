"""Search with a run's weights in CTranslate2, for comparison with `attn bench search`.

    python3 tools/peers/ctranslate2_search.py RUN TEXT [--at-once 1000] [--workers 2] [--threads 1] [--type float32]

Exports the run (tools/export.py), translates the file and prints sentences/s; with --output it also writes the
translations, to compare them. Needs ctranslate2, sentencepiece and numpy.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import ctranslate2

from run_files import Run, report
from text_lines import read_lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("text")
    parser.add_argument("--at-once", type=int, default=1000, help="sentences per call")
    parser.add_argument("--batch", type=int, default=32, help="maximum batch size in sentences")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--output", help="file for the translations, of all sentences")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="(default: all cores, as attn)")
    parser.add_argument("--threads", type=int, default=1, help="threads per worker")
    parser.add_argument("--type", default="float32", help="float32 or int8")
    parser.add_argument("--name", default="CTranslate2")
    parser.add_argument("--attn", default="build/release/app/attn", help="the program, for the export")
    options = parser.parse_args()
    run = Run(options.run)
    search = run.config["search"]
    if (search["penalty"], search["stop"]) != ("power", "first_finished"):
        parser.error("CTranslate2 supports search.penalty power with search.stop first_finished only; set both in the run's config")
    sentences = run.pieces.encode(read_lines(options.text), out_type=str)
    how = dict(beam_size=search["beam"], length_penalty=search["alpha"], max_batch_size=options.batch, max_decoding_length=256)
    with tempfile.TemporaryDirectory() as folder:
        exported = pathlib.Path(folder) / "model"
        subprocess.run([sys.executable, pathlib.Path(__file__).parent.parent / "export.py", options.run, "--to", "ctranslate2",
                        "--output", exported, "--attn", options.attn], check=True, stdout=subprocess.DEVNULL)
        translator = ctranslate2.Translator(str(exported), device="cpu", compute_type=options.type,
                                            inter_threads=options.workers, intra_threads=options.threads)
        translate = lambda first: translator.translate_batch(sentences[first:first + options.at_once], **how)
        translate(0)
        found, begin = [], time.perf_counter()
        while len(found) < len(sentences) and (options.output or time.perf_counter() - begin < options.seconds):
            found += translate(len(found))
        rate = len(found) / (time.perf_counter() - begin)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as out:
            out.writelines(run.pieces.decode(best.hypotheses[0]) + "\n" for best in found)
    report(options.name, version=ctranslate2.__version__, sentences_per_second=rate, sentences=len(found))


if __name__ == "__main__":
    main()
