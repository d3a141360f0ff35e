"""tools/check_layers.py: the project keeps its layers, and each rule is seen to catch what breaks it."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import check_layers  # noqa: E402  # its folder must be on the path first


class Layers(unittest.TestCase):
    def problems(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.problems(Path(folder))

    def assert_caught(self, expected, files):
        found = self.problems(files)
        self.assertEqual(len(found), 1, found)
        self.assertIn(expected, found[0])

    def test_this_project_keeps_its_layers(self):
        self.assertEqual(check_layers.problems(ROOT), [])
        self.assertGreater(len(check_layers.source_files(ROOT)), 50)

    def test_what_is_allowed_passes(self):
        self.assertEqual(self.problems({
            "base/error.h": "#include <string>\n", "base/json_config.h": "#include <nlohmann/json.hpp>\n",
            "model/attention.h": '#include <torch/torch.h>\n#include "base/error.h"\n',
            "app/main.cpp": '#include <CLI/CLI.hpp>\n#include "train/loss.h"\n', "train/loss.h": "#pragma once\n",
            "tests/train/loss_test.cpp": '#include "train/loss.h"\n#include "tests/support/catch.h"\n',
            "tests/support/catch.h": "#include <catch2/catch.hpp>\n", "eval/metrics/b.h": "",
            "eval/tasks/a.h": '#include "eval/metrics/b.h"\n', "report/a.h": '#include "eval/metrics/b.h"\n',
            "train/loss.cpp": '#include "model/attention.h"\n', "data/parsing/a.h": '#include "data/b.h"\n', "data/b.h": "",
            "train/a.h": "", "train/make_a.cpp": '#include "train/a.h"\n#include "train/b.h"\n', "train/b.h": '#include "train/a.h"\n',
        }), [])

    def test_each_rule_catches_what_breaks_it(self):
        for expected, files in (
                ('base/a.h:2: includes "model/b.h"', {"base/a.h": '#pragma once\n#include "model/b.h"\n', "model/b.h": ""}),
                *((f'{a}:1: includes "{b}"{more}', {a: f'#include "{b}"\n', b: ""}) for a, b, more in (
                    ("train/a.h", "eval/b.h", ""), ("model/a.h", "data/b.h", ""), ("app/experiment/a.h", "app/sweep/b.h", ""),
                    ("eval/search/a.h", "eval/metrics/b.h", "; of eval it may include eval/search"),
                    ("data/a.h", "data/parsing/b.h", "; of data it may include data"))),
                ("tests/data/a_test.cpp:1", {"tests/data/a_test.cpp": '#include "model/b.h"\n', "model/b.h": ""}),
                ("train/new is not in SUBFOLDERS", {"train/new/a.h": ""}),
                ("train/a.h:1: an include cycle: train/a > train/b > train/a",
                 {"train/a.h": '#include "train/b.h"\n', "train/b.h": '#include "train/a.h"\n'}),
                ("an include cycle: train/a > train/b > train/c > train/a",
                 {"train/a.h": '#include "train/b.h"\n', "train/b.h": '#include "train/c.h"\n', "train/c.h": '#include "train/a.h"\n'}),
                ("train/a.cpp:2: an include cycle: train/a > train/b > train/a",
                 {"train/a.h": "", "train/a.cpp": '#include "train/a.h"\n#include "train/b.h"\n', "train/b.h": '#include "train/a.h"\n'}),
                ("not a file of the project", {"base/a.cpp": '#include "a.h"\n', "base/a.h": ""}),
                *((f"<{name}>", {file: f"  #  include <{name}>\n"}) for file, name in (
                    ("train/a.cpp", "nlohmann/json.hpp"), ("eval/a.cpp", "CLI/CLI.hpp"), ("data/a.h", "sentencepiece_processor.h"))),
                # Torch-free sources reach no LibTorch over other headers; base is torch-free whatever its lists say.
                ("data/b.h:1: includes <torch/torch.h>, but data/a.cpp > data/b.h is torch-free", {
                    "data/CMakeLists.txt": "attn_folder(data # the corpus\n  USES base\n  TEXT\n    a.cpp\n  TORCH\n    c.cpp\n)\n",
                    "data/a.cpp": '#include "data/b.h"\n', "data/b.h": "#include <torch/torch.h>\n", "data/c.cpp": "#include <torch/torch.h>\n"}),
                ("base/a.h:1: includes <ATen/ATen.h>", {"base/a.h": "#include <ATen/ATen.h>\n"})):
            self.assert_caught(expected, files)

    def test_a_folder_keeps_its_budget_without_generated_files(self):
        long = "\n" * (check_layers.BUDGETS["base"] + 1)
        self.assert_caught(f"base: {len(long)} lines", {"base/a.cpp": long})
        self.assertEqual(self.problems({"base/a.h": "// Written by tools/a.py\n" + long, "base/a.md": long}), [])
        many = "\n" * check_layers.BUDGETS["kernels"]
        self.assertEqual([line for line in self.problems({"kernels/a.cpp": many, "kernels/cuda/b.cu": "\n"}) if "budget" in line], [])
        python = "\n" * check_layers.PYTHON_BUDGET
        self.assert_caught(f"Python: {len(python) + 1} lines", {"tools/a.py": python, "tests/a.py": "\n"})

    def test_folders_point_where_their_units_do_and_those_of_the_app_form_no_cycle(self):
        files = {"base/a.h": [], "app/x/b.h": [(1, "base/a.h", True)], "app/y/c.h": [(1, "app/x/b.h", True)],
                 "app/y/d.h": [(1, "app/y/c.h", True)], "tests/base/a_test.cpp": [(1, "base/a.h", True)]}
        self.assertEqual(check_layers.folder_graph(files), {"base": set(), "app/x": {"base"}, "app/y": {"app/x"}})
        files["app/x/b.h"].append((2, "app/y/d.h", True))
        self.assertEqual(check_layers.cycle_of(check_layers.folder_graph(files)), ["app/x", "app/y", "app/x"])
        folders = check_layers.folder_graph(check_layers.source_files(ROOT)).items()
        app = lambda names: {name for name in names if name.startswith("app")}
        self.assertEqual(check_layers.cycle_of({folder: app(others) for folder, others in folders if app([folder])}), [])


if __name__ == "__main__":
    unittest.main()
