"""tools/report: the page and its figures from the files of `attn report`. Skipped without NumPy, SciPy and matplotlib."""
import csv
import html
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from program import LOADS, draw_page, skip  # noqa: E402

# Name, d_k, perplexity, its difference from base, the paper's, significant, verdict. The half width of the interval is t
# with one degree of freedom, so that the standard error is 1.
ROWS = [("base", 8, 5.0, None, None, "no", ""), ("A1", 2, 9.0, 4.0, 0.4, "yes", "agrees"), ("A2", 4, 7.0, 2.0, 0.3, "no", "inconclusive"),
        ("A3", 16, 4.0, -1.0, 0.1, "yes", "disagrees"), ("x<b>", None, 99.0, 94.0, None, "no", "")]
CRITICAL = 12.706204736174698  # scipy.stats.t.isf(0.025, 1)
NONCENTRALITY = 16.33400886992094  # at which a test with one degree of freedom has power 0.8


def write(folder, name, value):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf8")


def write_csv(folder, name, lines):
    with open(folder / name, "w", encoding="utf8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def write_report(folder):
    text = [{"key": "row", "title": "row", "text": True}, {"key": "model.d_k", "title": "d_k", "text": False},
            {"key": "ppl", "title": "PPL", "text": False}, {"key": "ppl_interval", "title": "interval", "text": False}]
    write(folder, "report.json", {
        "title": "a <sweep>", "about": "", "state": "1 of 6 runs finished", "legend": ["the tests"], "notes": ["a note"], "command": "attn sweep",
        "made": "", "metrics": [{"key": "ppl", "title": "PPL", "lower_is_better": True, "evaluator": "valid"}],
        "rows": [{"name": name, "about": "", "group": "", "baseline": "base", "options": {"model.d_k": str(d_k)} if d_k else {"model.norm": "pre"}}
                 for name, d_k, *_ in ROWS],
        "results": {"columns": text, "rows": [[row[0], str(row[1]), f"{row[2]:.2f}", "[-1, 1]"] for row in ROWS]},
        "cost": {"columns": text[:1], "rows": [["base"]]}})
    write_csv(folder, "rows.csv", [{
        "row": name, "ppl_mean": ppl, "ppl_deviation": 0.5, "ppl_difference": "" if d is None else d, "ppl_degrees": "" if d is None else 1,
        "ppl_interval_low": "" if d is None else d - CRITICAL, "ppl_interval_high": "" if d is None else d + CRITICAL,
        "ppl_significant": significant, "ppl_unstable": "yes" if ppl > 90 else "no", "ppl_paper_difference": "" if paper is None else paper,
        "ppl_verdict": verdict} for name, _, ppl, d, paper, significant, verdict in ROWS])
    write_csv(folder, "runs.csv", [{"row": row[0], "seed": 1, "finished": 1, "flops": 1e12 * (i + 1)} for i, row in enumerate(ROWS)])
    write_csv(folder, "curves.csv", [{"row": row[0], "seed": seed, "step": step, "evaluator": "valid", "weights": "checkpoint", "metric": "ppl", "value": row[2] + 100 / step + seed}
                                     for row in ROWS for seed in (1, 2) for step in (10, 20, 30)])
    heads = [{"kind": kind, "importance": value} for kind, value in (("encoder", 1), ("decoder", 1), ("cross", 2))]
    pruning = [{"masked": i, "bleu": bleu} for i, bleu in enumerate((25, 24.5, 20, 24.9))]
    write(folder, "A1/seed-1/heads.json", {"heads": heads, "pruning": pruning})


class ReportPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        write_report(cls.folder)
        cls.page = draw_page(cls.folder)
        if cls.page is None:
            skip("tests/tools/report_test.py: no NumPy, SciPy and matplotlib")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def cells(self, name):
        """The cells of the first line of a table that begins with this name."""
        return re.findall("<td[^>]*>([^<]*)", re.search(f"<tr><th>{re.escape(html.escape(name))}</th>(.*?)</tr>", self.page)[1])

    def test_the_first_table_has_the_results_as_they_are_in_the_csv(self):
        self.assertEqual(self.cells("base"), ["5.00 ± 0.50"])
        self.assertEqual(self.cells("rows that differ significantly"), ["2 of 4"])
        self.assertEqual(self.cells("with the paper's sign / against it / unclear"), ["1 / 1 / 1"])
        self.assertEqual(self.cells("Kendall's τ of the differences with the paper's"), ["1.00"])
        alone, corrected = map(float, self.cells("smallest difference that one test finds / after Holm")[0].split(" / "))
        self.assertEqual(alone, round(NONCENTRALITY, 2))
        self.assertGreater(corrected, 3 * alone)

    def test_the_page_is_whole_escaped_and_loads_nothing(self):
        self.assertEqual(re.findall(LOADS + r"|https?:(?!//www\.w3\.org)|<b>|<sweep>|>nan<", self.page), [])
        for part in ("a &lt;sweep&gt;", "1 of 6 runs finished", "a note", "the tests", "Learning curves", "By option", "Score and cost", "x&lt;b&gt;"):
            self.assertTrue(part in self.page, part)

    def test_scores_come_before_options_and_intervals_are_drawn(self):
        titles = re.findall("<th[^>]*>([^<]*)</th>", self.page.split("<h2>Results</h2>")[1].split("</thead>")[0])
        self.assertEqual(titles, ["row", "PPL", "d_k"])

    def test_figures_are_svg_and_pdf(self):
        names = sorted(path.name for path in (self.folder / "figures").iterdir())
        self.assertEqual(names, sorted(f"{name}.{kind}" for kind in ("pdf", "svg") for name in
                                       ("cost", "curve-A", "curve-norm", "differences", "heads", "option-A-ppl")))
        options = (self.folder / "figures/option-A-ppl.svg").read_text(encoding="utf8")
        for part in (">2<", ">4<", ">8<", ">16<", "d_k (log scale)"):  # with the value of base
            self.assertIn(part, options)

    def test_heads_have_their_importance_and_what_can_be_masked(self):
        heads = self.page.split("<h2>Heads</h2>")[1]
        self.assertEqual(re.findall("<td>([^<]*)", heads.split("</tr>")[1]), ["3", "25", "25", "50", "100"])


if __name__ == "__main__":
    unittest.main()
