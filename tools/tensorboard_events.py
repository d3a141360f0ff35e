#!/usr/bin/env python3
"""Writes the metrics of runs as event files for TensorBoard, without TensorFlow.

    python3 tools/tensorboard_events.py runs/tiny runs/other --output events
    tensorboard --logdir events

Each run has a folder in OUTPUT, named as the run. A record of an event file (TFRecord) is its length, its bytes and a
masked CRC-32C of each; the bytes are a protobuf message Event: 1 wall_time (double), 2 step (int64), 3 file_version, or
5 summary, whose values (1) have a tag (1) and a simple_value (2, float).
"""
import argparse
import os
import pathlib
import struct

from metrics_log import scalars

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    TABLE.append(byte)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


def text(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def record(event):
    length = struct.pack("<Q", len(event))
    return length + masked_crc(length) + event + masked_crc(event)


def event(seconds, step, body):
    return record(b"\x09" + struct.pack("<d", seconds) + b"\x10" + varint(step) + body)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder of the event files")
    arguments = parser.parse_args()
    runs = [run.resolve() for run in arguments.runs]
    # Runs of a sweep are all called seed-1, seed-2, …
    common = pathlib.Path(os.path.commonpath([run.parent for run in runs]))
    for run in runs:
        start = (run / "config.json").stat().st_mtime if (run / "config.json").exists() else 0.0
        out = [event(start, 0, text(3, b"brain.Event:2"))]
        for seconds, step, values in scalars(run):
            summary = b"".join(text(1, text(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
                               for tag, value in values.items())
            out.append(event(start + seconds, step, text(5, summary)))
        folder = arguments.output / run.relative_to(common)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "events.out.tfevents.0000000000.attn").write_bytes(b"".join(out))
        print(f"{folder}: {len(out) - 1} records")


if __name__ == "__main__":
    main()
