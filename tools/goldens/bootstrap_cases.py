"""Writes tests/eval/data/bootstrap_cases.json: reference intervals and p-values of sacreBLEU for synthetic systems.

    pip install sacrebleu==2.6.0 && python3 tools/goldens/bootstrap_cases.py

The systems are references with words dropped, doubled or exchanged at several rates; the draws are NumPy's, so that a
difference in the generator shows on its own.
"""

import json
import pathlib
import random

import numpy as np
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

WORDS = "the a old young man woman dog house sees finds gives sleeps in under near red green slowly often and".split()


def damaged(sentence, rate, rng):
    out = []
    for word in sentence.split():
        draw = rng.random()
        if draw < rate / 3:
            continue
        if draw < 2 * rate / 3:
            out.append(rng.choice(WORDS))
        elif draw < rate:
            out += [word, word]
        else:
            out.append(word)
    return " ".join(out)


def two_systems():
    """References, and two systems that damage them."""
    rng = random.Random(11)
    references = [" ".join(rng.choices(WORDS, k=rng.randint(3, 12))) for _ in range(40)]
    return references, {name: [damaged(line, rate, rng) for line in references] for name, rate in (("baseline", 0.30), ("system", 0.25))}


def resampled(metric, name, references, systems):
    """Score, mean, interval and p-value of each system by a metric that sacreBLEU calls `name`."""
    _, scores = PairedTest(list(systems.items()), {name: metric}, [references], test_type="bs")()
    return [{key: value and float(value) for key, value in
             (("score", r.score), ("mean", r.mean), ("ci", r.ci), ("p_value", r.p_value))} for r in scores[name]]


def main():
    out = pathlib.Path(__file__).resolve().parents[2] / "tests/eval/data/bootstrap_cases.json"
    rng = random.Random(7)
    references = [" ".join(rng.choices(WORDS, k=rng.randint(3, 12))) for _ in range(60)]
    systems = {"baseline": [damaged(line, 0.30, rng) for line in references]}
    for name, rate in (("alike", 0.30), ("better", 0.15), ("worse", 0.45)):
        systems[name] = [damaged(line, rate, rng) for line in references]
    systems["same"] = list(systems["baseline"])
    results = dict(zip(systems, resampled(BLEU(tokenize="none"), "BLEU", references, systems)))
    draws = []
    for seed in (0, 12345, 2**32 + 5, 2**64 - 1):
        for bound in (1, 2, 60, 1000, 3004, 2**31 + 11):
            values = np.random.default_rng(seed).choice(bound, size=9, replace=True).tolist()
            draws.append({"seed": seed, "bound": bound, "values": values})
    text = json.dumps({"references": references, "systems": systems, "results": results, "draws": draws}, indent=1)
    out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
