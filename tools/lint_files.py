"""Checks files one by one, for tools/lint.sh: their syntax, ends and lengths.

    git ls-files | python3 tools/lint_files.py

Prints one violation per line; exits with 1 if there are any.
"""
import ast
import json
import pathlib
import re
import sys

LONGEST = 400  # lines of a C++ source
PYTHON = (".py", "data/fetch", "tools/gpu_check", "tools/recompute")
FRAGMENT = re.compile("Part of|Included")  # in the first lines of headers that may be included more than once


def violations(name):
    data = pathlib.Path(name).read_bytes()
    text = data.decode(errors="replace")
    if data and not data.endswith(b"\n"):
        yield "no newline at the end"
    if "utils" in name or "helpers" in name:
        yield "name it for what is in it"
    if name.endswith((".cpp", ".h", ".cu")):
        lines = text.count("\n")
        if lines > LONGEST and "Written by tools/" not in text:
            yield f"{lines} lines, {LONGEST} at most: split it"
    if name.endswith(".h") and not re.search("^#pragma once", text, re.M):
        if not FRAGMENT.search("\n".join(text.split("\n")[:3])):
            yield "no #pragma once"
    if name.endswith(".json"):
        try:
            json.loads(text)
        except ValueError as error:
            yield f"not valid JSON: {error}"
    if name.endswith(PYTHON):
        try:
            ast.parse(text)
        except SyntaxError as error:
            yield f"not valid Python: line {error.lineno}: {error.msg}"


def main():
    found = [f"{name}: {reason}" for name in sys.stdin.read().splitlines() for reason in violations(name)]
    for line in found:
        print("lint:", line)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
