"""What the attacks share: texts that mean harm, a place where harm shows, and the command run under watch.

Each attack is a program of its own: NAME_attack.py. It makes ALLOT_MUTATIONS mutations (default: a few hundred, which take
seconds; the long tests ask for 100,000), from ALLOT_SEED (default 1). What goes wrong is printed with the seed of its round;
ALLOT_ROUND=SEED makes this round alone, and leaves its folder behind.
"""
import os
import pathlib
import pty
import random
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time

ALLOT = os.environ.get("ALLOT", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "allot"))
MUTATIONS = int(os.environ.get("ALLOT_MUTATIONS", "400"))
SEED = int(os.environ.get("ALLOT_SEED", "1"))
ROUND = os.environ.get("ALLOT_ROUND")
SECONDS = float(os.environ.get("ALLOT_SECONDS", "inf"))  # then it ends with what it has
MOST_MEMORY_KB = 768 << 10  # of any one command
LONGEST = 180  # seconds of any one command

# Shell, gnuplot, HTML, SVG, CSS, CSV, SQL, printf, templates: each would leave a file called HIT, or a mark that is seen.
EXECUTED = [
    "`touch HIT`", "`>HIT`", "`touch${IFS}HIT`", "$(touch HIT)", "'; touch HIT; '", '"; touch HIT; "', "| touch HIT", "\n touch HIT\n", "& touch HIT &",
    "'.system('touch HIT').'", '"; system("touch HIT"); "', "\\`touch HIT\\`", "{}; touch HIT", "${IFS}touch${IFS}HIT",
    "<script>document.title='HIT'</script>", "\"><img src=x onerror=\"document.title='HIT'\">", "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>", "]]><script>alert(1)</script>", "<svg onload=alert(1)>", "javascript:alert(1)",
    "' onmouseover='alert(1)", "&lt;script&gt;", "<!--", "-->", "</svg>", "</text>", "{{", "}}", "{}", "{out}", "{//}", "%s%n", "'; DROP TABLE attempts; --",
]
ESCAPES = [
    "\x1b[2J", "\x1b]0;HIT\x07", "\x1b[31;5m", "\x1b[1;1H", "\x1bP$q\x1b\\", "\x1b[6n", "\x1b(0", "\x1bc", "\r", "\r\n5 of 5 tasks done.\n",
    "\x08\x08\x08", "\x07", "\x00", "\x0e", "\x7f", "\x9b2J", "\x9d0;HIT\x9c", "\x85", "\u202e", "\u202d", "\u2066", "\u2067", "\u2069", "\u200f",
    "\u200e", "\u061c", "\u2028", "\u2029", "\x1b[8m", "\x1b_G\x1b\\",
]
PATHS = [
    "../x", "../../x", "../../../../../../tmp/HIT", "/tmp/HIT-absolute", "a/../../x", "./../x", "..", ".", "/", "", "a//../..//x", "-rf", "--help", "-o/tmp/HIT",
    "~root", "a\\..\\x", "con", "link/x", "link/../x", "out/../../x", "x" * 300, "é", "a b", ".hidden", "...", "a/b/c/d", "out", "job.toml", "job.toml.journal",
]


class Texts:
    """A stream of hostile texts."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self, kinds=(EXECUTED, ESCAPES, PATHS)):
        r = self.random
        out = "".join(r.choice(r.choice(kinds)) for _ in range(r.randint(1, 4)))
        if r.random() < 0.3:
            at = r.randint(0, len(out))
            out = out[:at] + r.choice(["a", "name", "\u00fc", " ", "0", "%", ",", ":", "#"]) + out[at:]
        if r.random() < 0.02:
            out *= r.choice([50, 2000, 20000])
        return out

    def bytes(self, most=64):
        return self.random.randbytes(self.random.randint(0, most))


def toml_text(text):
    """As TOML has it: everything that could end the text escaped, the rest as it is."""
    out = ""
    for c in text:
        if c in '"\\' or ord(c) < 0x20 or c == "\x7f":
            out += f"\\u{ord(c):04x}"
        else:
            out += c
    return f'"{out}"'


def terminal_complaints(output, most=(1 << 20) + 4096):
    """What in the bytes written to a terminal is not plain text, nor one of the few sequences that allot itself writes."""
    rest = re.sub(rb"\x1b\[(?:\d*A|K|J|0m|1m|2m|31m|32m|1;36m)", b"", output)
    for match in re.finditer(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]", rest):
        yield f"byte {match.group()!r} in {rest[max(0, match.start() - 40):match.end() + 40]!r}"
    try:
        text = rest.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"no UTF-8: {rest[max(0, error.start - 20):error.end + 20]!r}"
        text = ""
    for match in re.finditer("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text):
        yield f"mark {match.group()!a} in {text[max(0, match.start() - 30):match.end() + 30]!a}"
    # A terminal's own line ends are \r\n; a carriage return alone is a progress line, which begins with it.
    longest = max((len(line) for line in rest.split(b"\n")), default=0)
    if longest > most:
        yield f"a line of {longest} bytes"


class Ran:
    def __init__(self, status, output, seconds, memory_kb):
        self.status, self.output, self.seconds, self.memory_kb = status, output, seconds, memory_kb


def run_on_terminal(arguments, folder, longest=LONGEST, environment=None, columns=120):
    """Runs the command on a terminal of its own; what both streams wrote, how it ended, what it took."""
    import fcntl
    import struct
    import termios

    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    attributes = termios.tcgetattr(far)
    attributes[1] &= ~termios.OPOST  # bytes as they are written
    termios.tcsetattr(far, termios.TCSANOW, attributes)
    began = time.monotonic()
    process = os.fork()
    if process == 0:
        try:
            os.setsid()
            for stream in (0, 1, 2):
                os.dup2(far, stream)
            os.closerange(3, 64)
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.execve(arguments[0], [str(a) for a in arguments], {**os.environ, "TERM": "xterm", **(environment or {})})
        finally:
            os._exit(127)
    os.close(far)
    output = bytearray()
    hung = False
    while True:
        left = longest - (time.monotonic() - began)
        if left <= 0:
            hung = True
            os.killpg(process, signal.SIGKILL)
            break
        if select.select([near], [], [], min(left, 1.0))[0]:
            try:
                piece = os.read(near, 1 << 16)
            except OSError:
                piece = b""
            if not piece:
                break
            if len(output) < 64 << 20:
                output += piece
    _, status, usage = os.wait4(process, 0)
    os.close(near)
    code = "hung" if hung else os.waitstatus_to_exitcode(status)
    return Ran(code, bytes(output), time.monotonic() - began, usage.ru_maxrss)


class Attack:
    """Counts, watches and reports."""

    def __init__(self, name):
        self.name = name
        self.mutations = 0
        self.commands = 0
        self.found = []
        self.most_memory_kb = 0
        self.longest = 0.0
        self.root = pathlib.Path(tempfile.mkdtemp(prefix=f"allot-{name}-"))
        self.began = time.monotonic()
        for trace in ("/tmp/HIT", "/tmp/HIT-absolute"):
            if os.path.exists(trace):
                os.remove(trace)

    def next_seed(self, texts):
        """Of the next round."""
        if ROUND is not None and self.commands > 0:
            print(f"left behind: {self.root}")
            sys.exit(1 if self.found else 0)
        if time.monotonic() - self.began > SECONDS:
            self.end()
        return int(ROUND) if ROUND is not None else texts.random.randrange(1 << 30)

    def folder(self):
        """A folder deep inside an empty one: whatever appears around it was written outside."""
        place = self.root / "outside" / "a" / "b"
        if (self.root / "outside").exists():
            shutil.rmtree(self.root / "outside")
        place.mkdir(parents=True)
        return place

    def complain(self, round_seed, what):
        self.found.append(f"seed {round_seed}: {what}")
        print(self.found[-1], file=sys.stderr, flush=True)

    def run(self, round_seed, arguments, folder, allowed, terminal=True, **options):
        ran = run_on_terminal([ALLOT, *arguments], folder, **options)
        self.commands += 1
        self.most_memory_kb = max(self.most_memory_kb, ran.memory_kb)
        self.longest = max(self.longest, ran.seconds)
        shown = " ".join(map(str, arguments))[:200]
        if ran.status not in allowed:
            self.complain(round_seed, f"{shown}: ended with {ran.status}: {ran.output[-400:]!r}")
        if terminal:
            # Documents for machines are not cut.
            most = (1 << 30,) if {"--json", "--csv"} & set(arguments) else ()
            for complaint in list(terminal_complaints(ran.output, *most))[:3]:
                self.complain(round_seed, f"{shown}: on the terminal: {complaint}")
        if ran.memory_kb > MOST_MEMORY_KB:
            self.complain(round_seed, f"{shown}: took {ran.memory_kb >> 10} MiB")
        return ran

    def check_folder(self, round_seed, folder):
        """Nothing was executed, and nothing lies outside of the folder."""
        for hit in list(self.root.rglob("HIT")) + [pathlib.Path(p) for p in ("/tmp/HIT", "/tmp/HIT-absolute") if os.path.lexists(p)]:
            if folder in hit.parents and hit.parent != folder:
                continue  # an output of that name
            self.complain(round_seed, f"executed, or written outside: {hit}")
            shutil.rmtree(hit) if hit.is_dir() else hit.unlink()
        inside = set(folder.parents) | {folder}
        for path in (self.root / "outside").rglob("*"):
            if path not in inside and folder not in path.parents:
                self.complain(round_seed, f"outside: {path}")

    def end(self):
        shutil.rmtree(self.root, ignore_errors=True)
        seconds = time.monotonic() - self.began
        print(f"{self.name}: {self.mutations} mutations in {self.commands} commands, {seconds:.0f} s; {len(self.found)} complaints; "
              f"largest command {self.most_memory_kb >> 10} MiB, longest {self.longest:.1f} s")
        sys.exit(1 if self.found else 0)
