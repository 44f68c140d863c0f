#!/usr/bin/env python3
"""Walks through docs/tutorial.md in an empty folder: writes the files that it shows, types what it types, and compares what is
printed. '...' stands for whatever is printed there, and times may differ."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from pages import blocks

PAGE = "docs/tutorial.md"
TIME = re.compile(r"\b[\d.,]+ ?(?:us|ms|s)\b")


def matches(expected, actual):
    """Whether the output is the one shown, times and the widths of columns aside."""
    expected, actual = (re.sub(" +", " ", TIME.sub("<time>", text.rstrip())) for text in (expected, actual))
    return re.fullmatch(".*".join(map(re.escape, expected.split("..."))), actual, re.DOTALL)


def type_in(line, session, folder, environment):
    wrong = []
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", session, re.MULTILINE):
        done = subprocess.run(["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
        printed = done.stderr + done.stdout
        if done.returncode not in (0, 3, 7) or not matches(expected, printed):
            wrong.append(f"{PAGE}:{line}: $ {command}\n{printed}---- exit status {done.returncode}, but the page has\n{expected}")
    return wrong


def main():
    wrong, typed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, ".bin")
        program.mkdir()
        (program / "allot").symlink_to(os.environ["ALLOT"])
        environment = {**os.environ, "PATH": f"{program}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        for line, language, text in blocks(PAGE, "toml", "shell-session"):
            name = re.match(r"# (\w+\.toml)\n", text)
            if language == "toml" and name:
                pathlib.Path(folder, name.group(1)).write_text(text, encoding="utf-8")
            elif language == "shell-session":
                wrong += type_in(line, text, folder, environment)
                typed += text.count("$ ")
            else:
                wrong.append(f"{PAGE}:{line}: a file without a name")
    print("\n".join(wrong) or f"{typed} commands as shown")
    return bool(wrong) or typed < 10


if __name__ == "__main__":
    sys.exit(main())
