"""cmake/LibTorchInternals.cmake: a LibTorch whose internal operators changed ends the configuration with their names."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "cmake/LibTorchInternals.cmake"
# (operator, arguments) as the file lists them
OPERATORS = re.findall(r'^  (_\w+) \S+\n  "(\(.*)"', SOURCE.read_text(), re.MULTILINE)


class TorchInternals(unittest.TestCase):
    def configure(self, schemas):
        """The output of the check over headers that hold these schemas; it is empty if the check passed."""
        with tempfile.TemporaryDirectory() as folder:
            ops = Path(folder) / "ATen/ops"
            ops.mkdir(parents=True)
            for operator, schema in schemas.items():
                (ops / f"{operator.rstrip('_')}_ops.h").write_text(f'schema_str = "{operator}{schema}"\n')
            script = Path(folder) / "check.cmake"
            script.write_text(f'set(ATTN_TORCH_OLDEST 1)\nset(ATTN_TORCH_NEWEST 2)\ninclude("{SOURCE}")\n'
                              f'attn_check_torch_internals("{folder}" 9.9)\n')
            result = subprocess.run(["cmake", "-P", script], capture_output=True, text=True)
            self.assertEqual(result.returncode != 0, bool(result.stderr))
            return " ".join(result.stderr.split())

    def test_the_operators_as_they_are_called_pass(self):
        self.assertGreaterEqual(len(OPERATORS), 3)
        self.assertEqual(self.configure({name: arguments + ", int new=0) -> ()" for name, arguments in OPERATORS}), "")

    def test_another_schema_or_none_is_named_with_its_source(self):
        for name, _ in OPERATORS:
            for other in ({name: "(Tensor self)"}, {}):
                schemas = {n: arguments + ")" for n, arguments in OPERATORS if n != name} | other
                self.assertIn(f"LibTorch 9.9 has no operator {name} as ", self.configure(schemas))

    def test_each_source_that_is_named_calls_its_operator(self):
        for name, source in re.findall(r"^  (_\w+) (\S+)$", SOURCE.read_text(), re.MULTILINE):
            self.assertIn(f"at::{name}(", (ROOT / source).read_text())


if __name__ == "__main__":
    unittest.main()
