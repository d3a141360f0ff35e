#!/usr/bin/env python3
"""Writes tests/base/data/*.safetensors with Python's safetensors, for tests/base/safetensors_test.cpp.

    python3 tools/goldens/safetensors_golden.py                # needs torch and safetensors
"""
import pathlib

import torch
from safetensors.torch import save_file

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "base" / "data"


def write():
    OUT.mkdir(parents=True, exist_ok=True)
    ramp = torch.arange(6).reshape(2, 3)
    every_dtype = {
        "encoder.layers.0.weight": ramp.to(torch.float32) / 4 - 1,
        "a": torch.tensor([-1.5, 2.0], dtype=torch.float32),
        "f64": torch.tensor([0.1, -1e300], dtype=torch.float64),
        "bf16": torch.tensor([1.0, -2.5, 3.0], dtype=torch.bfloat16),
        "f16": torch.tensor([1.0, -2.5, 65504.0], dtype=torch.float16),
        "i64": torch.tensor([-(2**63), 2**63 - 1], dtype=torch.int64),
        "i32": torch.tensor([-1, 7], dtype=torch.int32),
        "u8": torch.tensor([0, 255, 3], dtype=torch.uint8),
        "bool": torch.tensor([True, False, True]),
        "scalar": torch.tensor(42.0),
        "nothing": torch.zeros(0, 5),
        "ümlaut \"quoted\"": torch.tensor([1], dtype=torch.uint8),
    }
    save_file(every_dtype, OUT / "every_dtype.safetensors", metadata={"format": "pt"})
    save_file({}, OUT / "empty.safetensors")
    for path in OUT.glob("*.safetensors"):
        path.chmod(0o644)  # save_file makes them private


if __name__ == "__main__":
    write()
