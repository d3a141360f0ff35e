"""Writes tests/train/data/training.json: learning rates and the z-loss by PyTorch.

    python3 tools/goldens/training.py        (needs torch 2.13 and safetensors)

The schedules are chains of torch.optim.lr_scheduler, whose rates are those of updates 1, 2, …; the z-loss is added to
torch's cross-entropy with label smoothing and differentiated by autograd.
"""
from functools import partial

import torch
from optimizers import write_json
from torch.optim import lr_scheduler

STEPS, WARMUP, RATE, FINAL, DECAY_STEPS = 60, 10, 0.01, 0.1, 24


def rates(*phases):
    """The rate of each update; phases are (updates, scheduler of an optimizer)."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    schedulers, ends = [], []
    for updates, make in phases:
        schedulers.append(make(optimizer))
        ends.append(updates + (ends[-1] if ends else 0))
    schedule = lr_scheduler.SequentialLR(optimizer, schedulers, ends[:-1])
    out = []
    for _ in range(STEPS):
        out.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return out


warmup = partial(lr_scheduler.LinearLR, start_factor=1 / WARMUP, end_factor=1.0, total_iters=WARMUP - 1)
cosine = partial(lr_scheduler.CosineAnnealingLR, T_max=STEPS - WARMUP, eta_min=FINAL * RATE)
stable = partial(lr_scheduler.ConstantLR, factor=1.0, total_iters=1)
decay = partial(lr_scheduler.LinearLR, start_factor=1.0, end_factor=FINAL, total_iters=DECAY_STEPS)


def z_loss(weight, smoothing):
    logits = (3 * torch.randn(5, 13)).requires_grad_()
    targets = torch.randint(2, 13, (5,))
    loss = torch.nn.functional.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    loss = loss + weight * logits.logsumexp(1).square().sum()
    loss.backward()
    return {"weight": weight, "smoothing": smoothing, "logits": logits.tolist(), "targets": targets.tolist(),
            "loss": loss.item(), "gradient": logits.grad.tolist()}


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(4)
    out = {"steps": STEPS, "warmup": WARMUP, "rate": RATE, "final_rate": FINAL, "decay_share": DECAY_STEPS / STEPS,
           "cosine": rates((WARMUP - 1, warmup), (STEPS, cosine)),
           "wsd": rates((WARMUP - 1, warmup), (STEPS - DECAY_STEPS - WARMUP, stable), (STEPS, decay)),
           "z_loss": [z_loss(0.01, 0.0), z_loss(0.1, 0.1)]}
    write_json("train/data/training", out, 1)


if __name__ == "__main__":
    main()
