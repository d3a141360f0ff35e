"""Writes tests/eval/data/ter_cases.json: reference values of sacreBLEU's TER for small cases.

    pip install sacrebleu==2.6.0 && python3 tools/goldens/ter_cases.py

`cases` holds small corpora under every option, with the score of the corpus and of each sentence; `edits` random
sentences of few words, which need many shifts; `bootstrap` the intervals and p-values of two systems.
"""

import random

from bleu_cases import CORPORA as BLEU_CORPORA
from bleu_cases import LINES, corpus_and_sentences, write_cases
from bootstrap_cases import resampled, two_systems
from sacrebleu.metrics import TER
from sacrebleu.metrics.lib_ter import translation_edit_rate

CORPORA = BLEU_CORPORA | {
    "shifts": (["at dawn three boats left", "d a b c", "b a d c f e", "x y z a b c"],
               [["three boats left at dawn", "a b c d", "a b c d e f", "a b c x y z"]]),
    "possessives and entities": (["the dog's bone &quot;here&quot; 's it's", "5-6 3.14, 1,000 a.b &amp;c", "It's the dog's, not it's."],
                                 [["the dog 's bone \" here \" 's it 's", "5 - 6 3.14 , 1,000 a . b & c", "It's the dog's, not it's."]]),
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
    references, systems = two_systems()
    baseline, system = resampled(TER(), "TER", references, systems)
    return {"references": references, **systems, "results": {"baseline": baseline, "system": system}}


if __name__ == "__main__":
    write_cases("ter", CORPORA, cases=[corpus_and_sentences(TER, CORPORA, name, options)[1] for name in CORPORA
                                       for options in OPTIONS], edits=edits(), bootstrap=bootstrap())
