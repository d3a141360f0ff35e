"""Lines of a text as attn splits them."""
import pathlib


def read_lines(file):
    """A line ends with LF or CRLF alone. str.splitlines() would also end it at U+2028, U+0085, a vertical tab and others, and
    universal newlines at a CR, which would misalign a parallel text."""
    lines = pathlib.Path(file).read_bytes().decode("utf-8-sig").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
