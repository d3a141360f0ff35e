"""Writes tests/report/data/statistics_cases.json: SciPy's values for the statistics of reports (report/seed_tests.h),
from synthetic samples.

    pip install scipy==1.17.1 && python3 tools/goldens/statistics_cases.py [OUT]

Holm's correction is not in SciPy: it is written here from its definition, as the largest factor over all prefixes.
"""

import argparse
import json
import pathlib
import random
import statistics

from scipy import stats

DEGREES = [1, 1.5, 2, 3.7, 4, 10, 17.25, 120, 2000]
LEVEL = 0.05
SIZES = [(2, 1), (3, 1), (5, 1), (8, 1), (1, 4), (2, 2), (3, 3), (5, 2), (2, 5), (8, 2), (8, 8), (30, 3), (120, 40)]


def t_cases():
    cases = []
    for degrees in DEGREES:
        for t in (0.0, 1e-9, 0.01, 0.7, 1.0, 2.2, 6.0, 40.0):
            cases.append({"t": t, "degrees": degrees, "p_value": float(2 * stats.t.sf(t, degrees))})
    return cases


def critical_cases():
    return [{"probability": p, "degrees": degrees, "t": float(stats.t.isf(p / 2, degrees))}
            for degrees in DEGREES for p in (0.002, 0.05, 0.6, 0.95)]


def table_case(rows):
    """Contrasts with the first row in a one-way analysis of variance of the rows whose seeds differ."""
    varying = [row for row in rows if len(set(row)) > 1]
    degrees = sum(len(row) - 1 for row in varying)
    mean_square = sum(statistics.variance(row) * (len(row) - 1) for row in varying) / degrees
    tests = []
    for row in rows[1:]:
        difference = statistics.mean(row) - statistics.mean(rows[0])
        error = (mean_square * (1 / len(rows[0]) + 1 / len(row))) ** 0.5
        low, high = stats.t.interval(1 - LEVEL, degrees, difference, error)
        tests.append({"p_value": float(2 * stats.t.sf(abs(difference) / error, degrees)), "degrees": degrees,
                      "interval": [float(low), float(high)]})
    return {"rows": rows, "tests": tests}


def table_cases(rng):
    tables = [[[round(rng.gauss(5.0, 0.2), 4) for _ in range(size)] for size in sizes]
              for sizes in ((2, 2, 2, 2), (5, 3, 3, 3, 3, 3), (3, 1, 2), (1, 1, 4), (2,) * 19)]
    cases = [table_case(rows) for rows in tables]
    for of_base, of_row in SIZES:  # two rows: the table's test is that of two samples
        for shift in (0.0, 0.3, 1.0, 4.0):
            pair = [[round(rng.gauss(mean, 0.2), 3) for _ in range(size)] for mean, size in ((5.0, of_base), (5.0 + shift, of_row))]
            deviations = [statistics.stdev(sample) if len(sample) > 1 else 0.0 for sample in pair]
            described = [(statistics.fmean(sample), deviation, len(sample)) for sample, deviation in zip(pair, deviations)]
            cases.append(table_case(pair))
            expected = stats.ttest_ind_from_stats(*described[0], *described[1], equal_var=True).pvalue
            assert abs(cases[-1]["tests"][0]["p_value"] - expected) < 1e-12
    return cases + [table_case([[5.0, 5.3, 5.1], [0.0, 0.0, 0.0], [4.4, 4.9], [5.2]])]


def holm(p_values):
    order = sorted(p_values)
    count = len(order)
    return [max(min(1.0, (count - i) * order[i]) for i in range(order.index(p) + 1)) for p in p_values]


def holm_cases(rng):
    fixed = [[], [0.03], [0.01, 0.04, 0.03, 0.005], [0.02, 0.02, 0.9], [1.0, 1.0]]
    drawn = [[round(rng.random() ** 3, 6) for _ in range(count)] for count in (5, 18)]
    return [{"p_values": p_values, "adjusted": holm(p_values)} for p_values in fixed + drawn]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    default = pathlib.Path(__file__).parents[2] / "tests/report/data/statistics_cases.json"
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=default)
    out = parser.parse_args().out

    rng = random.Random(11)
    groups = {"student_t": t_cases(), "critical": critical_cases(), "holm": holm_cases(rng), "tables": table_cases(rng)}
    text = ",\n".join(f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in groups.items())
    out.write_text("{" + text + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
