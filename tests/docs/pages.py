"""The code blocks of the documentation, for tests that run them."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page, *languages):
    """(line, language, text) of each fenced block of the page in one of the languages."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for match in re.finditer(r"^```([\w-]+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if match.group(1) in languages:
            yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2)
