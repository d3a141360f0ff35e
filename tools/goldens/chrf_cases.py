"""Writes tests/eval/data/chrf_cases.json: reference values of sacreBLEU's chrF for small cases and, with --wmt, for newstest2017.

    pip install sacrebleu==2.6.0 && python3 tools/goldens/chrf_cases.py [--wmt FOLDER]

`cases` holds small corpora under every option, with the score of the corpus and of each sentence; `bootstrap` the
intervals and p-values of two systems; `wmt17` scores alone of the systems in FOLDER, scored against its ref.de.
"""

import argparse
import pathlib

from bleu_cases import CORPORA as BLEU_CORPORA
from bleu_cases import LINES, corpus_and_sentences, write_cases
from bootstrap_cases import resampled, two_systems
from sacrebleu.metrics import CHRF

CORPORA = BLEU_CORPORA | {
    "ASCII punctuation at either end of words": (
        ['"Stop!", (he) said; [x] ... -- a.b .', "'tis the dogs' #1 @me ~x~ $5 5% ^ _a_ {b} `c` |d|"],
        [['"Stop!" (he) says: [x] .. - a.b', "it's the dog's #1 @you ~x $5 6% ^ _a {b} c |d"]]),
    "Unicode punctuation stays on words": (
        ["\u201eKomm her\u201c, rief sie \u2013 doch er blieb\u2026",
         "\u00abOui\u00bb \u00bfqu\u00e9? \u00a1ol\u00e9! \u4f60\u597d\uff0c\u4e16\u754c\u3002"],
        [["\u201eKomm\u201c her, rief sie - doch er blieb \u2026",
          "\u00ab oui \u00bb \u00bfqu\u00e9 ? \u00a1 ol\u00e9! \u4f60\u597d\uff0c\u4e16\u754c."]]),
    "beyond the first plane": (
        ["\U0001f600ok \U0001f44d\U0001f3fd x", "cafe\u0301 caf\u00e9"],
        [["\U0001f600 ok \U0001f44d x", "caf\u00e9 caf\u00e9"]]),
    "the better reference by F": (
        ["the cat sat", "one two three"], [["the cat sat down on it", "three two one"], ["the dog sat", "one two"]]),
    "equal references": (["a b c d"], [["a b c e"], ["a b c f"]]),
    "lines of all kinds": (LINES, [LINES[1:] + LINES[:1], [line.upper() for line in LINES]]),
    "white space alone": ([" ", "a", " \t b "], [["a", " ", "b"]]),
    "single marks": ([". , !"], [[". ; !"]]),
}

OPTIONS = [
    {},
    {"word_order": 2},
    {"word_order": 1},
    {"lowercase": True},
    {"lowercase": True, "word_order": 2},
    {"whitespace": True},
    {"whitespace": True, "word_order": 2},
    {"eps_smoothing": True},
    {"eps_smoothing": True, "word_order": 2},
    {"beta": 1},
    {"beta": 3, "word_order": 2},
    {"char_order": 3},
    {"char_order": 9, "word_order": 4, "eps_smoothing": True, "whitespace": True},
]


def case(name, options):
    score, row = corpus_and_sentences(CHRF, CORPORA, name, options)
    return {"corpus": name, "options": options, "name": score.name} | row


def bootstrap():
    references, systems = two_systems()
    rows = {0: [], 2: []}
    for word_order in rows:
        metric = CHRF(word_order=word_order)
        rows[word_order] = resampled(metric, metric.corpus_score([""], [[""]]).name, references, systems)
    return {"references": references, **systems,
            "results": [{"word_order": order, "baseline": base, "system": system}
                        for order, (base, system) in rows.items()]}


def wmt17(folder):
    def lines(path):
        return path.read_text(encoding="utf-8").split("\n")[:-1]
    references = [lines(folder / "ref.de")]
    rows = []
    for system in sorted(path.name for path in folder.glob("*.de") if path.name != "ref.de"):
        for options in OPTIONS[:9]:
            score = CHRF(**options).corpus_score(lines(folder / system), references).score
            rows.append({"system": system, "options": options, "score": score})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    root = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--wmt", type=pathlib.Path, default=root.parent / "shared/data/bleu/wmt17-ende")
    arguments = parser.parse_args()
    write_cases("chrf", CORPORA, cases=[case(name, options) for name in CORPORA for options in OPTIONS],
                bootstrap=bootstrap(), wmt17=wmt17(arguments.wmt))


if __name__ == "__main__":
    main()
