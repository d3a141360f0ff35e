"""The documents: every relative link in a Markdown file leads to a file that is there, and to a heading of it."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
IGNORED = ("build", "build-", ".venv", ".git", "runs", "corpora")


def documents():
    """The project's Markdown files: what git knows or would add; all that are there where there is no git."""
    done = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    if done.returncode == 0:
        found = [ROOT / name for name in done.stdout.split("\n") if name]
    else:
        found = [path for path in ROOT.rglob("*.md") if not path.relative_to(ROOT).parts[0].startswith(IGNORED)]
    return [path for path in found if path.exists()]


def prose(path):
    """The text without code, where brackets are no links and # is no heading."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^    .*$", "", text, flags=re.MULTILINE)


def anchors(path):
    """The headings as GitHub names them."""
    names = []
    for heading in re.findall(r"^#+ +(.*)$", prose(path), flags=re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        names.append(re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-"))
    return names


def broken_links(path):
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(path))):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            yield f"{path.relative_to(ROOT)}: {target}: no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{path.relative_to(ROOT)}: {target}: no such heading"


class Links(unittest.TestCase):
    def test_every_relative_link_resolves(self):
        self.assertGreater(len(documents()), 5)
        self.assertEqual([line for path in documents() for line in broken_links(path)], [])

    def test_the_readme_fits_a_screenful(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text(encoding="utf-8").split("\n")) - 1, 90)


if __name__ == "__main__":
    unittest.main()
