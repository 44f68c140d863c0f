#!/usr/bin/env python3
"""Sweep files of others, and the pages that are made of them. One mutation is one text in one file."""
import html.parser
import json
import re
import xml.etree.ElementTree

from hostile import MUTATIONS, SEED, Attack, Texts

TAGS = set("html head meta link title style body header h1 h2 h3 p nav ul li a main section div figure figcaption svg path text rect line circle g code span "
           "table thead tbody tr th td details summary strong br polyline polygon".split())


class Page(html.parser.HTMLParser):
    """Sees what a browser would make of a page."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.policy = ""

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attributes:
            if name.startswith("on") or name in ("style", "src", "srcset", "srcdoc", "action", "formaction", "xlink:href"):
                self.found.append(f"<{tag} {name}>")
            if name == "href" and not re.fullmatch(r"(#|data/|figures/)[^:]*|data:,", value or ""):
                self.found.append(f"<{tag} href={value!r}>")
        values = dict(attributes)
        if tag == "meta" and values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"]


def check_page(attack, seed, path):
    text = path.read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    for what in page.found[:5]:
        attack.complain(seed, f"{path.name} has {what}")
    if not page.policy.startswith("default-src 'none'; style-src 'sha256-") or "unsafe" in page.policy:
        attack.complain(seed, f"{path.name}: policy {page.policy!r}")
    if re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text):
        attack.complain(seed, f"{path.name} has control characters")


def sweep_text(names, texts):
    """A sweep of so many names, of which it varies all but two."""
    r = texts.random
    quoted = [json.dumps(name) for name in names]
    vary = ""
    if r.random() < 0.7:
        values = f"[{', '.join(quoted[2:])}]"
        field, values = r.choice([('resources.0.discipline', '["ps", "fcfs"]'), ('tasks.1.count', "[1, 2]"), ('resources.1.name', values), ('name', values)])
        vary = f'[[vary]]\nfield = "{field}"\nlabel = {quoted[1]}\nvalues = {values}\n'
    return f'title = {quoted[0]}\nscenario = "box.toml"\npolicies = ["map"{r.choice(["", ", " + chr(34) + "jsq" + chr(34)])}]\ncompletions = 50\nreplications = 2\n{vary}'


def scenario_text(names):
    """Two types on two resources, and some more of either that run nowhere else."""
    name, first, second, task, *others = names
    r, s = json.dumps("r" + first), json.dumps("s" + second)
    text = f'name = {json.dumps(name)}\n[[resources]]\nname = {r}\n[[resources]]\nname = {s}\n'
    pairs = [(json.dumps(f"{at}{a}"), json.dumps(f"{at}{b}")) for at, (a, b) in enumerate(zip(others[::2], others[1::2]))]
    for resource, _ in pairs:
        text += f'[[resources]]\nname = {resource}\n'
    text += (f'[[tasks]]\nname = {json.dumps("t" + task)}\ncount = 3\nrates = {{ {r} = 2.0, {s} = 1.0 }}\n'
             f'[[tasks]]\nname = "u"\ncount = 2\nrates = {{ {r} = 1.0 }}\n')
    for resource, one in pairs:
        text += f'[[tasks]]\nname = {one}\ncount = 1\nrates = {{ {resource} = 1.0 }}\n'
    return text


def main():
    attack = Attack("sweep")
    attack.pages = 0
    texts = Texts(SEED)
    while attack.mutations < MUTATIONS:
        seed = attack.next_seed(texts)
        one = Texts(seed)
        folder = attack.folder()
        varied = 2 + one.random.randint(2, 6)
        names = [one.text() for _ in range(varied + 4 + 2 * one.random.randint(0, 8))]
        plain = [re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", "", n)[:200] or "n" for n in names]
        (folder / "box.toml").write_text(scenario_text(plain[varied:]))
        kind = one.random.random()
        use = names if kind < 0.4 else plain
        (folder / "s.toml").write_text(sweep_text(use[:varied], one))
        attack.run(seed, ["sweep", "s.toml", "--out", "report", "--threads", "1"], folder, {0, 1, 2, 3})
        if (folder / "report" / "index.html").exists():
            attack.pages += 1
            check_page(attack, seed, folder / "report" / "index.html")
            for figure in (folder / "report" / "figures").glob("*.svg"):
                try:
                    xml.etree.ElementTree.parse(figure)
                except xml.etree.ElementTree.ParseError as error:
                    attack.complain(seed, f"{figure.name}: {error}")
        attack.check_folder(seed, folder)
        attack.mutations += len(names)
    if attack.pages < attack.commands / 4:
        attack.complain(SEED, f"only {attack.pages} of {attack.commands} sweeps gave a page: the attack misses its aim")
    attack.end()


main()
