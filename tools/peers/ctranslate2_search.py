#!/usr/bin/env python3
"""Search with a run's weights in CTranslate2, for comparison with `attn bench search`.

    python3 tools/peers/ctranslate2_search.py RUN TEXT [--at-once 1000] [--workers 2] [--threads 1] [--type float32]

Exports the run (tools/export.py), translates the file and prints sentences/s; with --output it also writes the
translations, to compare them. Needs ctranslate2, sentencepiece and numpy.
"""
import pathlib
import subprocess
import sys
import tempfile

import ctranslate2

from run_files import Run
from search_driver import search_arguments, timed_search
from text_lines import read_lines


def main():
    parser = search_arguments(__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1, help="threads per worker")
    parser.add_argument("--type", default="float32", help="float32 or int8")
    parser.add_argument("--name", default="CTranslate2")
    parser.add_argument("--attn", default="build/release/app/attn", help="the program, for the export")
    options = parser.parse_args()
    run = Run(options.run, position=None)
    search = run.config["search"]
    if (search["penalty"], search["stop"]) not in (("power", "first_finished"), ("power", "count")):
        parser.error("CTranslate2 supports search.penalty power with search.stop first_finished only; set both in the run's config")
    sentences = run.pieces.encode(read_lines(options.text), out_type=str)
    how = dict(beam_size=search["beam"], length_penalty=search["alpha"], max_batch_size=options.batch,
               max_decoding_length=256)
    with tempfile.TemporaryDirectory() as folder:
        exported = pathlib.Path(folder) / "model"
        subprocess.run([sys.executable, pathlib.Path(__file__).parent.parent / "export.py", options.run, "--to", "ctranslate2",
                        "--output", exported, "--attn", options.attn], check=True, stdout=subprocess.DEVNULL)
        translator = ctranslate2.Translator(str(exported), device="cpu", compute_type=options.type,
                                            inter_threads=options.workers, intra_threads=options.threads)
        timed_search(options.name, run, options, sentences, lambda part: translator.translate_batch(part, **how),
                     lambda best: best.hypotheses[0], version=ctranslate2.__version__)


if __name__ == "__main__":
    main()
