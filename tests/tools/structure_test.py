"""tools/structure.py: units, folders and cycles are those of the includes."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import structure  # noqa: E402  # its folder must be on the path first


class Structure(unittest.TestCase):
    def units(self, files):
        """The graph of units in a tree of {path: files that it includes}."""
        with tempfile.TemporaryDirectory() as folder:
            for name, includes in files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("".join(f'#include "{include}"\n' for include in includes))
            return structure.unit_graph(Path(folder))

    def test_a_source_and_its_header_are_one_unit(self):
        units = self.units({"base/a.h": [], "base/b.h": [], "base/b.cpp": ["base/b.h", "base/a.h"]})
        self.assertEqual(units, {"base/a": set(), "base/b": {"base/a"}})

    def test_tests_are_left_out(self):
        self.assertEqual(self.units({"base/a.h": [], "tests/base/a_test.cpp": ["base/a.h"]}), {"base/a": set()})

    def test_a_cycle_is_found_once(self):
        units = self.units({"base/a.h": [], "data/b.h": ["data/c.h"], "data/c.h": ["data/b.h", "base/a.h"],
                            "app/main.cpp": ["data/b.h"]})
        self.assertEqual(structure.cycles(units), [("data/b", "data/c")])

    def test_folders_point_where_their_units_do(self):
        units = self.units({"base/a.h": [], "app/x/b.h": ["base/a.h"], "app/y/c.h": ["app/x/b.h"]})
        self.assertEqual(structure.folder_graph(units), {"base": set(), "app/x": {"base"}, "app/y": {"app/x"}})

    def test_folders_of_the_app_have_no_cycle(self):
        folders = structure.folder_graph(structure.unit_graph(ROOT))
        self.assertEqual([cycle for cycle in structure.cycles(folders) if any(name.startswith("app") for name in cycle)], [])


if __name__ == "__main__":
    unittest.main()
