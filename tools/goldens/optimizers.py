"""Writes tests/train/data/optimizers.safetensors: parameters after each of five updates by AdamW, Lion and Muon.

    python3 tools/goldens/optimizers.py        (needs torch 2.13 and safetensors)

AdamW and Muon are PyTorch's (Muon for the matrices, with its Newton-Schulz steps in float64 instead of bfloat16, AdamW
for the bias); Lion is algorithm 2 of Chen et al. 2023. Everything is computed in float64 and written as float32.
"""
import json
import pathlib

import torch
from safetensors.torch import save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
STEPS, RATE, DECAY = 5, 0.02, 0.1
SHAPES = {"a.weight": (6, 4), "a.bias": (6,), "b.weight": (4, 6)}


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=RATE, betas=(0.9, 0.98), eps=1e-9, weight_decay=DECAY)


class Lion(torch.optim.Optimizer):
    def __init__(self, parameters):
        super().__init__(parameters, {})

    @torch.no_grad()
    def step(self):
        for x in self.param_groups[0]["params"]:
            m = self.state[x].setdefault("m", torch.zeros_like(x))
            x -= RATE * (torch.sign(0.9 * m + 0.1 * x.grad) + DECAY * x)
            self.state[x]["m"] = 0.99 * m + 0.01 * x.grad


def muon(parameters, scale):
    matrices, rest = ([p for p in parameters if (p.dim() == 2) == hidden] for hidden in (True, False))
    return [torch.optim.Muon(matrices, lr=RATE, weight_decay=DECAY, momentum=0.95, adjust_lr_fn=scale), adamw(rest)]


CASES = {"adamw": lambda p: [adamw(p)], "lion": lambda p: [Lion(p)],
         "muon_original": lambda p: muon(p, "original"), "muon_match_rms": lambda p: muon(p, "match_rms_adamw")}


def write_tensors(name, tensors, **metadata):
    """tests/NAME.safetensors, in float32."""
    path = ROOT / f"tests/{name}.safetensors"
    save_file({key: tensor.detach().float().contiguous() for key, tensor in tensors.items()}, path,
              metadata={"torch": torch.__version__, **metadata})
    print(f"{path}: {len(tensors)} tensors, {path.stat().st_size} bytes")


def write_json(name, value, indent=None):
    """tests/NAME.json."""
    path = ROOT / f"tests/{name}.json"
    path.write_text(json.dumps(value, indent=indent) + "\n", encoding="utf-8")
    print(f"{path}: {path.stat().st_size} bytes")


def main():
    torch.set_default_dtype(torch.float64)
    torch.Tensor.bfloat16 = lambda self: self.clone()  # of Muon's Newton-Schulz steps
    torch.manual_seed(3)
    first = {name: torch.randn(shape) for name, shape in SHAPES.items()}
    gradients = [{name: torch.randn(shape) for name, shape in SHAPES.items()} for _ in range(STEPS)]
    out = {f"first.{name}": value for name, value in first.items()}
    for step, of_step in enumerate(gradients):
        out.update({f"gradient{step + 1}.{name}": value for name, value in of_step.items()})
    for case, make in CASES.items():
        parameters = {name: value.clone().requires_grad_() for name, value in first.items()}
        optimizers = make(list(parameters.values()))
        for step, of_step in enumerate(gradients):
            for name, parameter in parameters.items():
                parameter.grad = of_step[name].clone()
            for optimizer in optimizers:
                optimizer.step()
            out.update({f"{case}{step + 1}.{name}": p.detach().clone() for name, p in parameters.items()})
    write_tensors("train/data/optimizers", out)


if __name__ == "__main__":
    main()
