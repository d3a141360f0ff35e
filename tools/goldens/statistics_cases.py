#!/usr/bin/env python3
"""Writes tests/report/data/statistics_cases.json: SciPy's values for the statistics of reports (report/statistics.h,
report/seed_tests.h and report/rank_correlation.h), from synthetic samples.

    pip install scipy==1.17.1 && python3 tools/goldens/statistics_cases.py [OUT]

Holm's correction is not in SciPy: it is written here from its definition, as the largest factor over all prefixes.
"""

import argparse
import json
import pathlib
import random
import statistics

from scipy import optimize, stats

DEGREES = [1, 1.5, 2, 3.7, 4, 10, 17.25, 120, 2000]
SIZES = [(2, 2), (3, 3), (3, 5), (5, 3), (8, 3), (20, 4), (50, 50)]
LEVEL = 0.05
POWER = 0.8


def t_cases():
    cases = []
    for degrees in DEGREES:
        for t in (0.0, 1e-9, 0.01, 0.7, 1.0, 2.2, 6.0, 40.0):
            cases.append({"t": t, "degrees": degrees, "p_value": float(2 * stats.t.sf(t, degrees))})
    return cases


def quantile_cases():
    return [{"probability": p, "degrees": degrees, "t": float(stats.t.ppf(p, degrees))}
            for degrees in DEGREES for p in (0.001, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9995)]


def described(base, row, equal_variances):
    result = stats.ttest_ind(row, base, equal_var=equal_variances)
    interval = result.confidence_interval(1 - LEVEL)
    return {"p_value": float(result.pvalue), "degrees": float(result.df),
            "interval": [float(interval.low), float(interval.high)]}


def mean_cases(rng):
    cases = []
    for of_base, of_row in SIZES:
        for shift, spread in ((0.0, 0.2), (0.3, 0.2), (1.0, 0.5), (-4.0, 0.02)):
            base = [round(rng.gauss(5.0, 0.2), 4) for _ in range(of_base)]
            row = [round(rng.gauss(5.0 + shift, spread), 4) for _ in range(of_row)]
            cases.append({"base": base, "row": row, "welch": described(base, row, False),
                          "pooled": described(base, row, True)})
    constant = {"base": [5.0, 5.0, 5.0], "row": [5.1, 5.2, 5.4, 5.1]}
    # Not pooled: seeds that all have the same score are left out of the pooled variance.
    cases.append({**constant, "welch": described(constant["base"], constant["row"], False)})
    return cases


def f_cases():
    return [{"ratio": ratio, "numerator": numerator, "denominator": denominator,
             "p_value": float(stats.f.sf(ratio, numerator, denominator))}
            for numerator in (1, 2, 4, 30) for denominator in (1, 2, 17, 200) for ratio in (0.01, 0.5, 1.0, 3.3, 40.0)]


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
    # Two rows: the table's test is that of two samples.
    two = table_case([[5.0, 5.3, 5.1], [4.4, 4.9]])
    assert abs(two["tests"][0]["p_value"] - stats.ttest_ind(*two["rows"]).pvalue) < 1e-12
    return cases + [two, table_case([[5.0, 5.3, 5.1], [0.0, 0.0, 0.0], [4.4, 4.9], [5.2]])]


def power_of(noncentrality, degrees, level):
    """P(|T| > t): T² has the noncentral F distribution."""
    return float(stats.ncf.sf(stats.t.isf(level / 2, degrees) ** 2, 1, degrees, noncentrality**2))


def power_cases():
    cases = []
    for degrees in DEGREES:
        for level in (0.05, 0.01):
            for noncentrality in (0.5, 1.0, 2.8, 5.0, 12.0):
                power = power_of(noncentrality, degrees, level)
                critical = stats.t.isf(level / 2, degrees)
                upper = stats.nct.sf(critical, degrees, noncentrality)  # the lower tail is NaN where it is tiny
                lower = stats.nct.cdf(-critical, degrees, noncentrality) if noncentrality < 3 else 0.0
                assert abs(power - upper - lower) < 1e-6, (degrees, level, noncentrality, power, upper, lower)
                cases.append({"degrees": degrees, "level": level, "noncentrality": noncentrality, "power": power})
    return cases


def detectable_cases():
    cases = []
    for degrees in DEGREES:
        for level in (0.05, 0.01):
            high = 2.0
            while power_of(high, degrees, level) < POWER:
                high *= 1.5
            found = optimize.brentq(lambda delta: power_of(delta, degrees, level) - POWER, 1e-3, high, xtol=1e-12)
            cases.append({"degrees": degrees, "level": level, "power": POWER, "difference": float(found)})
    return cases


def holm(p_values):
    order = sorted(p_values)
    count = len(order)
    return [max(min(1.0, (count - i) * order[i]) for i in range(order.index(p) + 1)) for p in p_values]


def holm_cases(rng):
    fixed = [[], [0.03], [0.01, 0.04, 0.03, 0.005], [0.02, 0.02, 0.9], [1.0, 1.0]]
    drawn = [[round(rng.random() ** 3, 6) for _ in range(count)] for count in (5, 18)]
    return [{"p_values": p_values, "adjusted": holm(p_values)} for p_values in fixed + drawn]


def kendall_cases(rng):
    cases = []
    for count in (2, 3, 4, 8, 18, 40):
        for dependence in (0.0, 0.5, 2.0, -1.0):
            x = [round(rng.gauss(0, 1), 3) for _ in range(count)]
            y = [round(dependence * value + rng.gauss(0, 1), 3) for value in x]
            for ties in (False, True):
                if ties:
                    x, y = [round(value) for value in x], [round(2 * value) / 2 for value in y]
                if len(set(x)) == 1 or len(set(y)) == 1:
                    continue
                distinct = len(set(x)) == count and len(set(y)) == count
                result = stats.kendalltau(x, y, method="exact" if distinct else "asymptotic")
                cases.append({"x": x, "y": y, "tau": float(result.statistic), "p_value": float(result.pvalue)})
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    default = pathlib.Path(__file__).parents[2] / "tests/report/data/statistics_cases.json"
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=default)
    out = parser.parse_args().out

    rng = random.Random(11)
    groups = {"student_t": t_cases(), "quantile": quantile_cases(), "means": mean_cases(rng), "f": f_cases(),
              "power": power_cases(), "detectable": detectable_cases(), "holm": holm_cases(rng), "kendall": kendall_cases(rng),
              "tables": table_cases(rng)}
    text = ",\n".join(
        f'"{name}": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]" for name, cases in groups.items())
    out.write_text("{" + text + "}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
