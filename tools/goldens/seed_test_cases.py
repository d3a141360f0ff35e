#!/usr/bin/env python3
"""Writes tests/report/data/seed_test_cases.json: SciPy's p-values of Student's t over two synthetic samples.

    pip install scipy==1.17.1 && python3 tools/goldens/seed_test_cases.py [OUT]

A sample of one adds nothing to the pooled variance. scipy.stats.ttest_ind does not support it, ttest_ind_from_stats does.
"""

import argparse
import json
import pathlib
import random
import statistics

from scipy import stats

SIZES = [(2, 1), (3, 1), (5, 1), (8, 1), (1, 4), (2, 2), (3, 3), (5, 2), (2, 5), (8, 2), (8, 8), (30, 3), (120, 40)]


def deviation(sample):
    return statistics.stdev(sample) if len(sample) > 1 else 0.0


def p_value(base, row):
    described = [(statistics.fmean(sample), deviation(sample), len(sample)) for sample in (base, row)]
    result = stats.ttest_ind_from_stats(*described[0], *described[1], equal_var=True)
    if min(len(base), len(row)) > 1:
        assert abs(result.pvalue - stats.ttest_ind(base, row, equal_var=True).pvalue) < 1e-12
    return float(result.pvalue)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    default = pathlib.Path(__file__).parents[2] / "tests/report/data/seed_test_cases.json"
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=default)
    out = parser.parse_args().out

    rng = random.Random(7)
    cases = []
    for of_base, of_row in SIZES:
        for shift in (0.0, 0.3, 1.0, 4.0):
            base = [round(rng.gauss(5.0, 0.2), 3) for _ in range(of_base)]
            row = [round(rng.gauss(5.0 + shift, 0.2), 3) for _ in range(of_row)]
            cases.append({"base": base, "row": row, "p_value": p_value(base, row)})
    lines = ",\n".join(json.dumps(case) for case in cases)
    out.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
