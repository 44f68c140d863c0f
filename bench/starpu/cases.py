"""StarPU programs of sleeping tasks whose rates are known, under each policy, and what allot's model promises for them.

Used by bench/starpu/run.py and by tests/starpu.
"""
import atexit
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ALLOT_BUILD", ROOT / "build" / "release"))
ALLOT = os.environ.get("ALLOT", str(BUILD / "apps" / "allot" / "allot"))
LIBRARY = os.environ.get("ALLOT_STARPU", str(BUILD / "integrations" / "starpu" / "liballot-starpu.so"))
PROGRAMS = pathlib.Path(os.environ.get("ALLOT_STARPU_PROGRAMS", BUILD / "examples" / "starpu"))

#: Milliseconds as type:tasks in flight:cpu,ocl0,ocl1; "-" is: cannot run there. The worths were fixed before anything was run
#: with them: each makes a type that is slow, or not at home on the processor, worth running there.
CASES = {
    "S1": {"cpus": 1, "types": ["A:6:8,4", "B:6:20,10"], "shares": {"A": 0.6, "B": 0.4}, "worths": {"A": 1, "B": 4}},
    "S2": {"cpus": 2, "types": ["A:6:10,2,20", "B:6:8,16,3", "C:6:4,12,9"], "shares": {"A": 0.5, "B": 0.3, "C": 0.2},
           "worths": {"A": 4, "B": 1, "C": 1}},
    "S3": {"cpus": 1, "types": ["A:4:10,-,-", "B:6:4,3,-", "C:6:15,-,2"], "shares": {"A": 0.15, "B": 0.35, "C": 0.5},
           "worths": {"A": 5, "B": 1, "C": 1}},
}
CASES["S4"] = {**CASES["S2"], "options": ["--exponential"]}

#: Seconds for which a run says what was done in each.
SLICE = 0.1

RIVALS = ["dmda", "dmdas", "lws", "eager", "random"]


def package(*words):
    """What pkg-config says; nothing if it is not installed or does not know."""
    if shutil.which("pkg-config") is None:
        return ""
    return subprocess.run(["pkg-config", *words], capture_output=True, text=True, check=False).stdout.strip()


def examples():
    """The folder of the programs that come with StarPU, where a package has them; it need not exist."""
    for module in ("starpu-1.4", "starpu-1.3"):
        if folder := package("--variable=libdir", module):
            return pathlib.Path(folder) / "starpu"
    return pathlib.Path("/usr/lib/starpu")


def random_box(seed):
    """One or two CPU workers and one or two devices; two to four types with lengths and worths over a decade, as many tasks in
    flight as keep everybody busy."""
    draw = random.Random(seed)
    devices = draw.randint(1, 2)
    types, worths = [], {}
    for name in "ABCD"[:draw.randint(2, 4)]:
        times = [round(4 * 10 ** draw.random(), 1) for _ in range(1 + devices)]
        cannot = draw.randrange(3 * (1 + devices))
        words = ["-" if place == cannot else str(ms) for place, ms in enumerate(times)]
        types.append(f"{name}:{draw.randint(3, 8)}:{','.join(words)}")
        worths[name] = round(10 ** draw.uniform(-0.5, 0.5), 2)
    return {"cpus": draw.randint(1, 2), "types": types, "worths": worths}


def drawn(case):
    """Whether the lengths of its tasks are drawn."""
    return "--exponential" in case.get("options", [])


def parsed(case):
    """{type: (count, [ms or None])}"""
    types = {}
    for text in case["types"]:
        name, count, times = text.split(":")
        types[name] = (int(count), [None if ms == "-" else float(ms) for ms in times.split(",")])
    return types


def resources(case):
    return ["cpu"] + [f"ocl{d}" for d in range(max(len(ms) for _, ms in parsed(case).values()) - 1)]


def scenario(case, depth=1, shares=None, measured=None, worths=False):
    """The case as `allot solve` reads it; measured: {type: [ms]} in place of the times as told, where positive."""
    names = resources(case)
    tasks = []
    for name, (count, times) in parsed(case).items():
        seen = (measured or {}).get(name, [0] * len(times))
        rates = {r: 1000 / (m or ms) for r, ms, m in zip(names, times, seen) if ms is not None}
        worth = {"worth": case["worths"][name]} if worths else {}
        tasks.append({"name": name, "count": count, "rates": rates, **worth, **({"priority": shares[name]} if shares else {})})
    return {"resources": [{"name": r, "servers": case["cpus"] if r == "cpu" else 1, "min_depth": 1 if r == "cpu" else depth}
                          for r in names], "tasks": tasks}


def solved(document, *options):
    run = subprocess.run([ALLOT, "solve", "-", "--json", *options], input=json.dumps(document), capture_output=True, text=True,
                         check=True)
    return json.loads(run.stdout)


class Home:
    """A folder for StarPU's performance models, so that nothing of the user's is read or written."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="allot-starpu-"))
        atexit.register(shutil.rmtree, self.path, ignore_errors=True)

    def environment(self, policy=None, stats=None, **settings):
        clean = {k: v for k, v in os.environ.items() if not re.match("STARPU_|ALLOT_|POCL_|LD_PRELOAD$", k)}
        clean.update(STARPU_HOME=str(self.path), POCL_CACHE_DIR=str(self.path / "pocl"), STARPU_SILENT="1",
                     STARPU_WORKERS_NOBIND="1", STARPU_OPENCL_ON_CPUS="1", STARPU_HISTORY_MAX_ERROR="1000000")
        if policy:
            clean["STARPU_SCHED"] = policy
            if policy.startswith("allot-"):
                # StarPU 1.3 knows no libraries of policies, so there the library is preloaded; 1.4 loads it itself.
                clean.update(LD_PRELOAD=LIBRARY, STARPU_SCHED_LIB=LIBRARY)
        if stats:
            clean["ALLOT_STATS"] = str(stats)
        clean.update({k: str(v) for k, v in settings.items()})
        return clean

    def run(self, command, policy=None, timeout=300, errors=False, **settings):
        """(what it printed, with errors also on standard error; what allot says in its statistics or None)"""
        stats = self.path / "stats.json"
        for old in self.path.glob("stats*.json"):
            old.unlink()
        ours = policy is not None and policy.startswith("allot-")
        done = subprocess.run([str(c) for c in command], env=self.environment(policy, stats if ours else None, **settings),
                              capture_output=True, text=True, timeout=timeout, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{policy} {command}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
        if ours and not self.all_statistics():
            raise RuntimeError(f"{policy} {command}: StarPU ran without the policy, for it left no statistics\n{done.stderr}")
        return done.stdout + (done.stderr if errors else ""), json.loads(stats.read_text(encoding="utf-8")) if stats.exists() else None

    def all_statistics(self):
        """Of the latest run: a file for each rank and each scheduling context."""
        return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.path.glob("stats*.json"))}


class ClosedLoop:
    """One case, calibrated once; then any policy, as often as wished."""

    def __init__(self, case):
        self.case = case
        self.words = [PROGRAMS / "sleeping", "--cpus", case["cpus"]]
        # Models from a moment in which the machine was busy would not be fair to those who trust them.
        self.home = self.quietest(self.calibrated_home, tries=5)["home"]

    def calibrated_home(self):
        home = Home()
        return {**json.loads(home.run([*self.words, "--calibrate", "--json", *self.case["types"]])[0]), "home": home}

    def quietest(self, measure, tries):
        """Measures again while tasks take over 3% longer than told, for others then have the cores; of all, the measurement
        that was disturbed least. Not for tasks whose lengths are drawn: it would choose the run that drew short ones."""
        results = []
        while len(results) < tries:
            results.append(measure())
            if self.stretch(results[-1]) <= 1.03:
                break
        return min(results, key=self.stretch)

    def run(self, policy, seconds=3, warmup=1, seed=1, models=True, **settings):
        options = [*self.case.get("options", []), *([] if models else ["--no-models"])]
        printed, stats = self.home.run([*self.words, *options, "--json", "--slices", SLICE, "--seconds", seconds, "--warmup", warmup, "--seed", seed,
                                        *self.case["types"]], policy, timeout=120 + 10 * (seconds + warmup), **settings)
        return json.loads(printed), stats

    def promise(self, depth=1, shares=None, measured=None, *options):
        return solved(scenario(self.case, depth, shares, measured), *options)

    def planned_value(self, measured=None):
        """What the plan of most value promises."""
        return solved(scenario(self.case, 1, None, measured, worths=True), "--solver", "planned")["value"]

    def value(self, result):
        return sum(self.case["worths"][name] * kind["throughput"] for name, kind in result["types"].items())

    def measured(self, result):
        """Milliseconds as they were: on a busy machine sleepers are woken late. 0 where too few ended to say, since lengths may be
        drawn."""
        return {name: [ms if n >= 20 else 0 for n, ms in zip(kind["done"], kind["ms"])] for name, kind in result["types"].items()}

    def stretch(self, result):
        """How much longer tasks took than they were told to."""
        told = sum(n * (ms or 0) for name, (_, times) in parsed(self.case).items()
                   for n, ms in zip(result["types"][name]["done"], times))
        took = sum(n * ms for kind in result["types"].values() for n, ms in zip(kind["done"], kind["ms"]))
        return took / told if told else 1.0


def named_text(numbers):
    """As ALLOT_SHARES and ALLOT_WORTHS want it."""
    return ",".join(f"{name}={number}" for name, number in numbers.items())
