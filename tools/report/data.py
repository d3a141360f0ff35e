"""What `attn report` wrote into the directory of a sweep or of a run: report.json, rows.csv, runs.csv, curves.csv."""
import collections
import csv
import json
import math
import re
import statistics

import numpy
from scipy import optimize, stats

LEVEL, POWER = 0.05, 0.8
MAX_GROUPS = 12


def number(text):
    """The cell's number; None for an empty cell and for a run that diverged."""
    value = float(text) if text else math.nan
    return value if math.isfinite(value) else None


def table(path):
    with open(path, encoding="utf8", newline="") as file:
        return list(csv.DictReader(file))


class Report:
    def __init__(self, directory):
        self.directory = directory
        self.meta = json.loads((directory / "report.json").read_text(encoding="utf8"))
        self.statistics = {row["row"]: row for row in table(directory / "rows.csv")}
        self.runs = table(directory / "runs.csv")
        self.rows = {row["name"]: row for row in self.meta["rows"]}
        self.names = list(self.rows)
        self.first = self.names[0]
        self.metrics = self.meta["metrics"][::-1]  # scores of outputs first, perplexity last
        self.curves = collections.defaultdict(lambda: collections.defaultdict(list))
        for line in table(directory / "curves.csv"):
            if (value := number(line["value"])) is not None:
                if line["weights"] != "checkpoint":
                    continue
                curve = self.curves[line["row"], line["evaluator"], line["metric"]]
                curve[line["seed"]].append((int(line["step"]), value))

    def value(self, row, metric, column):
        """A number of rows.csv: mean, deviation, difference, interval_low, p … of a metric."""
        return number(self.statistics[row].get(f"{metric}_{column}", ""))

    def marked(self, row, metric, column):
        return self.statistics[row].get(f"{metric}_{column}") == "yes"

    def compared(self, metric):
        """The rows with a difference from their baseline."""
        return [row for row in self.names if self.value(row, metric, "difference") is not None]

    def verdicts(self, metric):
        return collections.Counter(self.statistics[row].get(f"{metric}_verdict") for row in self.names)

    def words(self, row):
        """What the row is: its description, or the options that it changes."""
        of = self.rows[row]
        changed = [f"{path.split('.', 1)[-1]} {value}" for path, value in of["options"].items() if path != "seed"]
        text = of["about"] or ("" if row == self.first else ", ".join(changed))
        return text if of["baseline"] == self.first else f"vs. {of['baseline']}: {text}"

    def flops(self, row):
        values = [float(run["flops"]) for run in self.runs if run["row"] == row and run["finished"] == "1"]
        return statistics.mean(values) if values and min(values) > 0 else None

    def groups(self):
        """[(name, rows)] of all rows but the first: by the sweep file's groups, by the letters of Table 3 (A1, A2), by
        grid (width.d_ff=128), by the options that they change; single rows together if there are many groups."""
        groups = {}
        for name, row in list(self.rows.items())[1:]:
            letters = re.fullmatch(r"([A-Za-z])\d*|([A-Za-z]+)\d+", name)
            options = ", ".join(path.split(".", 1)[-1] for path in row["options"] if path != "seed")
            key = row["group"] or (letters and (letters[1] or letters[2])) or \
                (name.split("=")[0].rpartition(".")[0] if "=" in name else "") or options or name
            groups.setdefault(key, []).append(name)
        if len(groups) > MAX_GROUPS:
            single = [key for key, rows in groups.items() if len(rows) == 1 and not self.rows[rows[0]]["group"]]
            others = [groups.pop(key)[0] for key in single]
            groups |= {"other rows": others} if others else {}
        return list(groups.items())

    def grid(self, rows):
        """(option, {row: value}) of the numeric option with the most values among the rows of a group that change no
        other one, with the first row if its value is another; None for fewer than three values."""
        paths = {path for row in rows for path in self.rows[row]["options"] if path != "seed"}
        for path in sorted(paths):
            values = {}
            for row in [self.first, *rows]:
                try:
                    values[row] = float(self.rows[row]["options"].get(path, ""))
                except ValueError:
                    continue
            varying = {other for other in paths for row in rows
                       if self.rows[row]["options"].get(other) != self.rows[rows[0]]["options"].get(other)}
            own = {row: value for row, value in values.items() if row != self.first}
            if len(own) == len(rows) and len(set(own.values())) == len(rows) and varying <= {path}:
                values = own if values.get(self.first) in own.values() or paths != {path} else values
                return (path.split(".", 1)[-1], values) if len(values) > 2 else None
        return None

    def rank_correlation(self, metric):
        """Kendall's τ between our differences from the first row and the paper's, and from ten rows on a bootstrap interval
        over rows, unless all resamples agree; None without three pairs or without an order."""
        pairs = [(self.value(row, metric, "difference"), self.value(row, metric, "paper_difference"))
                 for row in self.names if self.rows[row]["baseline"] == self.first]
        pairs = numpy.array([pair for pair in pairs if None not in pair])
        if len(pairs) < 3 or len(set(pairs[:, 0])) == 1 or len(set(pairs[:, 1])) == 1:
            return None
        tau = stats.kendalltau(*pairs.T).statistic
        if len(pairs) < 10:
            return tau, None
        draws = numpy.random.default_rng(12345).integers(len(pairs), size=(2000, len(pairs)))
        resampled = [stats.kendalltau(*pairs[draw].T).statistic for draw in draws]
        low, high = numpy.nanquantile(resampled, (0.025, 0.975))
        return tau, (low, high) if low < high else None  # all resamples agree

    def detectable(self, metric):
        """The smallest true difference that the tests find with probability 0.8, median over rows, and the same after
        Holm's correction, for the smallest p-value; None without tests over seeds."""
        tests = []
        for row in self.compared(metric):
            degrees = self.value(row, metric, "degrees")
            if degrees and not self.marked(row, metric, "unstable"):
                width = self.value(row, metric, "interval_high") - self.value(row, metric, "interval_low")
                tests.append((width / 2 / stats.t.isf(LEVEL / 2, degrees), degrees))
        if not tests:
            return None
        error, degrees = sorted(tests)[len(tests) // 2]

        def at(level):
            critical = stats.t.isf(level / 2, degrees) ** 2
            high = 2.0
            while stats.ncf.sf(critical, 1, degrees, high**2) < POWER:
                high *= 2
            return error * optimize.brentq(lambda shift: stats.ncf.sf(critical, 1, degrees, shift**2) - POWER, 1e-3, high)
        return at(LEVEL), at(LEVEL / len(self.compared(metric)))

    def heads(self):
        """{row: [JSON of attn heads for each run that has heads.json]}."""
        found = {}
        for row in self.names:
            for path in sorted((self.directory / row).glob("seed-*/heads.json")):
                found.setdefault(row, []).append(json.loads(path.read_text(encoding="utf8")))
        return found
