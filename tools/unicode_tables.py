"""Writes base/unicode_tables.h: what base/unicode.cpp needs to agree with sacreBLEU and Python.

    pip install regex && python3 tools/unicode_tables.py [OUT]

The general categories come from the module `regex`, which sacreBLEU's tokenizer `intl` uses and which
covers newer characters than most Pythons; without it, from unicodedata. White space and lower case are those of
Python's str.
"""

import argparse
import pathlib
import platform
import sys
import unicodedata

CODE_POINTS = [c for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF]


def categories(letter):
    """Code points of one major category, and its source."""
    try:
        import regex
    except ImportError:
        chosen = [c for c in CODE_POINTS if unicodedata.category(chr(c))[0] == letter]
        return chosen, f"unicodedata {unicodedata.unidata_version}"
    pattern = regex.compile(rf"\p{{{letter}}}")
    return [c for c in CODE_POINTS if pattern.match(chr(c))], f"regex {regex.__version__}"


def ranges(code_points):
    """Sorted code points as [first, last] pairs."""
    found = []
    for c in code_points:
        if found and found[-1][1] == c - 1:
            found[-1][1] = c
        else:
            found.append([c, c])
    return found


def case_ranges():
    """Lower-case mappings as [first, last, step, delta]: the alphabets (step 1) and the pairs Aa (step 2)."""
    found = []
    for c in CODE_POINTS:
        lower = chr(c).lower()
        if c in (0x130, 0x3A3) or lower == chr(c):  # these two are handled by the code
            continue
        if len(lower) != 1:
            raise SystemExit(f"U+{c:04X} has a long lower-case form that to_lower() does not know")
        delta = ord(lower) - c
        if found and found[-1][3] == delta:
            first, last, step, _ = found[-1]
            gap = c - last
            if gap in (1, 2) and (first == last or gap == step):
                found[-1][1:3] = [c, gap]
                continue
        found.append([c, c, 1, delta])
    return found


def sigma_contexts():
    """Characters that make a following capital sigma final, and those that are looked through."""
    def is_final(text):
        return text.lower().endswith("\u03c2")
    cased = [c for c in CODE_POINTS if is_final(chr(c) + "\u03a3")]
    looked_through = set(CODE_POINTS) - set(cased)
    return cased, [c for c in CODE_POINTS if c in looked_through and is_final("A" + chr(c) + "\u03a3")]


def write_table(out, kind, name, rows):
    out.append(f"inline constexpr {kind} {name}[] = {{")
    line = "   "
    for row in rows:
        entry = " {" + ", ".join(row) + "},"
        if len(line) + len(entry) > 100:
            out.append(line)
            line = "   "
        line += entry
    out += [line, "};", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    default = pathlib.Path(__file__).resolve().parent.parent / "base" / "unicode_tables.h"
    parser.add_argument("out", nargs="?", default=default, type=pathlib.Path)
    path = parser.parse_args().out
    hexadecimal = lambda pairs: [[f"0x{first:X}", f"0x{last:X}"] for first, last in pairs]
    classes = [(name, *categories(letter)) for name, letter in (("punctuation", "P"), ("symbols", "S"), ("numbers", "N"))]
    cased, ignorable = sigma_contexts()
    out = [
        "// Character tables for unicode.cpp, its only reader. Written by tools/unicode_tables.py; do not edit.",
        f"// Categories: {classes[0][2]}. Case and space: Python {platform.python_version()}, "
        f"Unicode {unicodedata.unidata_version}.",
        "#pragma once", "", "#include <cstdint>", "", "// clang-format off",
        "namespace attn::unicode_tables {", "",
        "/// All code points from `first` to `last`.",
        "struct Range { char32_t first, last; };", "",
        "/// Every `step`-th code point from `first` to `last` has its lower case `delta` away.",
        "struct CaseRange { char32_t first, last; uint32_t step; int32_t delta; };", "",
    ]
    for name, members, _ in classes:
        write_table(out, "Range", name, hexadecimal(ranges(members)))
    write_table(out, "Range", "spaces", hexadecimal(ranges([c for c in CODE_POINTS if chr(c).isspace()])))
    write_table(out, "CaseRange", "lower", [[f"0x{first:X}", f"0x{last:X}", str(step), str(delta)]
                                            for first, last, step, delta in case_ranges()])
    write_table(out, "Range", "cased", hexadecimal(ranges(cased)))
    write_table(out, "Range", "case_ignorable", hexadecimal(ranges(ignorable)))
    out += ["}  // namespace attn::unicode_tables", "// clang-format on", ""]
    path.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    main()
