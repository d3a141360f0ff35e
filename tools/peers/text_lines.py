"""A text's lines as attn counts them."""
import pathlib


def read_lines(file):
    """A line ends with LF or CRLF alone. str.splitlines() would also end it at U+2028, U+0085, a vertical tab and others, and
    universal newlines at a CR: the sides of a parallel text would no longer belong together."""
    lines = pathlib.Path(file).read_bytes().decode("utf-8-sig").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]
