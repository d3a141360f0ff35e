#!/usr/bin/env python3
"""Writes tests/eval/data/ter_cases.json: reference values of sacreBLEU's TER for small cases.

    pip install sacrebleu==2.6.0 && python3 tools/goldens/ter_cases.py

`cases` holds small corpora under every option, with the score of the corpus and of each sentence; `edits` random
sentences of few words, which need many shifts; `bootstrap` the intervals and p-values of two systems.
"""

import json
import pathlib
import random

import sacrebleu
from bleu_cases import CORPORA as BLEU_CORPORA
from bleu_cases import LINES
from bootstrap_cases import WORDS, damaged
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate
from sacrebleu.significance import PairedTest

CORPORA = BLEU_CORPORA | {
    "shifts": (["at dawn three boats left", "d a b c", "b a d c f e", "x y z a b c"],
               [["three boats left at dawn", "a b c d", "a b c d e f", "a b c x y z"]]),
    "possessives and entities": (["the dog's bone &quot;here&quot; 's it's", "5-6 3.14, 1,000 a.b &amp;c"],
                                 [["the dog 's bone \" here \" 's it 's", "5 - 6 3.14 , 1,000 a . b & c"]]),
    "Chinese and Japanese": (
        ["\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u3053\u308c\u306f\u30da\u30f3\u3067\u3059\u3002", "\u30fb\u4e2da\u6587 \u3232 b"],
        [["\u4f60\u597d \u4e16\u754c \u3002", "\u3053\u308c\u304c \u30da\u30f3 \u3067\u3059", "\u4e2d a \u6587\u30fb\u3232b"]]),
    "empty lines": (["", "a b", ""], [["", "", "a b c"]]),
    "far apart": ([" ".join(f"w{i}" for i in range(80))],
                  [[" ".join(f"w{i}" for i in [*range(60, 80), *range(60)])]]),
    "lengths that differ much": (["a", " ".join("abcdefgh" * 20)], [[" ".join("xyza" * 30), "h"]]),
    "the better of two references": (["a b c d"], [["d c b a e f"], ["a c b d"]]),
    "lines of all kinds": (LINES, [LINES[1:] + LINES[:1], [line.upper() for line in LINES]]),
}

OPTIONS = [
    {},
    {"case_sensitive": True},
    {"normalized": True},
    {"no_punct": True},
    {"normalized": True, "no_punct": True},
    {"normalized": True, "asian_support": True},
    {"no_punct": True, "asian_support": True},
    {"normalized": True, "no_punct": True, "asian_support": True, "case_sensitive": True},
]


def case(name, options):
    hypotheses, references = CORPORA[name]
    metric = TER(**options)
    score = metric.corpus_score(hypotheses, references)
    sentences = [
        TER(**options).sentence_score(line, [one[i] for one in references]).score for i, line in enumerate(hypotheses)]
    return {"corpus": name, "options": options, "score": score.score, "sentences": sentences,
            "signature": str(metric.get_signature()).replace("|version:" + sacrebleu.__version__, "")}


def edits(count=300):
    rng = random.Random(5)
    rows = []
    for i in range(count):
        kinds = rng.choice((3, 6, 20))
        reference = [rng.randrange(kinds) for _ in range(rng.randint(0, 25))]
        if i % 2:  # a shuffled copy with damage, else independent words
            hypothesis = list(reference)
            for _ in range(rng.randint(0, 3)):
                a, b = sorted(rng.randint(0, len(hypothesis)) for _ in range(2))
                part = hypothesis[a:b]
                del hypothesis[a:b]
                at = rng.randint(0, len(hypothesis))
                hypothesis[at:at] = part
            hypothesis = [w for w in hypothesis if rng.random() > 0.1]
        else:
            hypothesis = [rng.randrange(kinds) for _ in range(rng.randint(0, 25))]
        found, _ = translation_edit_rate([str(w) for w in hypothesis], [str(w) for w in reference])
        rows.append({"hypothesis": hypothesis, "reference": reference, "edits": found})
    return rows


def bootstrap():
    rng = random.Random(11)
    references = [" ".join(rng.choices(WORDS, k=rng.randint(3, 12))) for _ in range(40)]
    systems = {name: [damaged(line, rate, rng) for line in references]
               for name, rate in (("baseline", 0.30), ("system", 0.25))}
    _, scores = PairedTest(list(systems.items()), {"TER": TER()}, [references], test_type="bs")()
    rows = [{key: value and float(value) for key, value in
             (("score", r.score), ("mean", r.mean), ("ci", r.ci), ("p_value", r.p_value))} for r in scores["TER"]]
    return {"references": references, **systems, "results": {"baseline": rows[0], "system": rows[1]}}


def main():
    out = pathlib.Path(__file__).resolve().parents[2] / "tests/eval/data/ter_cases.json"

    def block(rows):  # one row a line: diffs stay readable
        return "[\n" + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]"
    corpora = {name: {"hypotheses": h, "references": r} for name, (h, r) in CORPORA.items()}
    cases = [case(name, options) for name in CORPORA for options in OPTIONS]
    out.write_text(
        "{\n"
        f' "about": "written by tools/goldens/ter_cases.py with sacreBLEU {sacrebleu.__version__}",\n'
        f' "corpora": {json.dumps(corpora)},\n'
        f' "cases": {block(cases)},\n'
        f' "edits": {block(edits())},\n'
        f' "bootstrap": {json.dumps(bootstrap())}\n'
        "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
