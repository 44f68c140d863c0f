"""What the documentation shows runs, and gives what it says."""
import doctest
import re
import subprocess
import sys

import pytest

import allot
import allot._errors
from conftest import SOURCE

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def documented():
    yield "allot", allot.__doc__
    for name in allot.__all__:
        thing = getattr(allot, name)
        yield name, thing.__doc__
        if isinstance(thing, type):
            for attribute in dir(thing):
                documentation = getattr(getattr(thing, attribute), "__doc__", None)
                if not attribute.startswith("_") and isinstance(documentation, str):
                    yield f"{name}.{attribute}", documentation


EXAMPLES = {name: text for name, text in documented() if text and ">>>" in text}


def run(name, text, where=None):
    test = doctest.DocTestParser().get_doctest(text, {}, name, where, 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    output = []
    runner.run(test, out=output.append)
    assert runner.failures == 0, "".join(output)
    return runner.tries


@pytest.mark.parametrize("name", EXAMPLES)
def test_docstrings(name):
    assert run(name, EXAMPLES[name]) > 0


def test_everything_is_documented():
    """Each function and class by an example, each attribute by a line at least."""
    for name in allot.__all__:
        assert name in EXAMPLES, name
        thing = getattr(allot, name)
        if not isinstance(thing, type):
            continue
        fields = getattr(thing, "_fields", ())  # of a record, which its own text explains
        for attribute in set(dir(thing)) - set(dir(tuple)) - set(dir(Exception)) - set(fields):
            if not attribute.startswith("_") and attribute != "diagnostics":
                assert getattr(thing, attribute).__doc__, f"{name}.{attribute}"


def test_the_guide(monkeypatch, tmp_path):
    """The Python sessions of the guide, in one go; paths in it start at the project's folder."""
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(SOURCE)
    text = (SOURCE / "docs/guides/python.md").read_text(encoding="utf-8")
    sessions = re.findall(r"```pycon\n(.*?)```", text, re.DOTALL)
    assert len(sessions) >= 5
    assert run("python.md", "\n".join(sessions)) >= 20


PAGES = [path for path in sorted(SOURCE.glob("docs/**/*.md")) if "```pycon" in path.read_text(encoding="utf-8") and path.name != "python.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sessions_of_other_pages(page, monkeypatch):
    monkeypatch.chdir(SOURCE)
    sessions = re.findall(r"```pycon\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert run(page.name, "\n".join(sessions)) >= 4


def test_the_tutorial_ends_in_a_picture(tmp_path):
    picture = tmp_path / "tutorial.png"
    subprocess.run([sys.executable, SOURCE / "examples/python/tutorial.py", picture], check=True, cwd=SOURCE)
    assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size > 10_000
