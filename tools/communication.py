#!/usr/bin/env python3
"""What processes send each other in an update, and a prediction of their efficiency (docs/howto/distributed.md).

    tools/communication.py --parameters 65.0e6                    bytes for 1 to 64 processes
    tools/communication.py --parameters 65.0e6 --seconds 0.1      and efficiency, for updates of 0.1 s in one process

The bytes are those of train/parallel/gradient_sum.cpp and are exact except for the rounding of shards (a few kB) and
scalars. The efficiency is a prediction: --seconds of work are divided evenly, bytes within a machine move at --inside
and those between machines at --between GB/s (each direction, per process), none of it overlaps with computation, and
each message costs --latency microseconds.
"""
import argparse

PROCESSES = (1, 2, 4, 8, 16, 32, 64)


def sent_bytes(parameters, processes, wire, sharded):
    """Bytes that one process sends to others in an update: gradients to the shards' owners, and the owners' results."""
    share = parameters * (processes - 1) / processes
    gradient = 2 if wire == "bf16" else 4
    result = 4 if sharded else gradient  # updated weights are fp32, summed gradients in the type of the wire
    return share * (gradient + result)


def moments_bytes(parameters, processes, sharded):
    """Adam's two moments in one process."""
    return 8 * parameters / (processes if sharded else 1)


def communication_seconds(sent, processes, options):
    """Every process sends alike to all others; those of its machine are reached on the faster way."""
    if processes == 1:
        return 0.0
    neighbours = min(processes, options.per_machine) - 1
    inside = sent * neighbours / (processes - 1)
    way = max(inside / (options.inside * 1e9), (sent - inside) / (options.between * 1e9))
    return way + 2 * (processes - 1) * options.latency * 1e-6


def efficiency(parameters, processes, wire, sharded, options):
    """Speed of the processes over as many times the speed of one, which computes updates of the same size."""
    work = options.seconds / processes
    sent = sent_bytes(parameters, processes, wire, sharded)
    return work / (work + communication_seconds(sent, processes, options))


def table(options):
    forms = [(wire, sharded) for sharded in (False, True) for wire in ("fp32", "bf16")]
    names = [f"{wire}{', sharded' if sharded else ''}" for wire, sharded in forms]
    heads = ["processes", *(f"MB sent, {name}" for name in names), "MB of moments, sharded"]
    if options.seconds:
        heads += [f"efficiency, {name}" for name in names]
    lines = ["| " + " | ".join(heads) + " |", "|" + " ---: |" * len(heads)]
    for processes in PROCESSES:
        cells = [f"{processes}"]
        cells += [f"{sent_bytes(options.parameters, processes, *form) / 1e6:.1f}" for form in forms]
        cells += [f"{moments_bytes(options.parameters, processes, True) / 1e6:.1f}"]
        if options.seconds:
            cells += [f"{100 * efficiency(options.parameters, processes, *form, options):.0f} %" for form in forms]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parameters", type=float, required=True, help="of the model (attn bench step)")
    parser.add_argument("--seconds", type=float, help="of an update in one process, all its batches together")
    parser.add_argument("--per-machine", type=int, default=8, help="processes in a machine (default: %(default)s)")
    parser.add_argument("--inside", type=float, default=200, help="GB/s within a machine (default: %(default)s)")
    parser.add_argument("--between", type=float, default=20, help="GB/s between machines (default: %(default)s)")
    parser.add_argument("--latency", type=float, default=10, help="microseconds of a message (default: %(default)s)")
    print(table(parser.parse_args()))


if __name__ == "__main__":
    main()
