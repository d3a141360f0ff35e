"""Shared code of the search benchmarks."""
import argparse
import time

from run_files import report


def search_arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("run")
    parser.add_argument("text")
    parser.add_argument("--at-once", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=32, help="maximum batch size in sentences")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--output")
    return parser


def timed_search(system, run, options, sentences, translate, pieces_of, **values):
    """Translates options.at_once sentences per call, after one warm-up call, and reports sentences/s. With options.output
    all sentences are translated and written; pieces_of returns the pieces of one result."""
    translate(sentences[: options.at_once])
    found, begin = [], time.perf_counter()
    while len(found) < len(sentences) and (options.output or time.perf_counter() - begin < options.seconds):
        found += translate(sentences[len(found) : len(found) + options.at_once])
    rate = len(found) / (time.perf_counter() - begin)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as out:
            out.writelines(run.pieces.decode(pieces_of(result)) + "\n" for result in found)
    report(system, **values, sentences_per_second=rate, sentences=len(found))
