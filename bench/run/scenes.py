"""Machines of sleeping tasks whose rates are known, and how fast `allot run` and others get work done on them.

A task sleeps for 1 / rate seconds, so that what a machine could do at best follows from the model alone; the command
`allot solve` says how much that is. Used by bench_run and by tests/live.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import time

ALLOT = os.environ.get("ALLOT", str(pathlib.Path(__file__).resolve().parents[2] / "build" / "allot"))

#: Best Fit sends everything to the fast resource; the best is to keep only the type there that profits most.
TWO_BY_TWO = {
    "resources": {"cpu": 1, "gpu": 1},
    "types": {"small": {"count": 4, "rates": {"cpu": 2.0, "gpu": 5.0}},
              "large": {"count": 4, "rates": {"cpu": 1.0, "gpu": 2.5}}},
}

#: An accelerator that runs one type only, and slower than the gpu would; a processor with two slots.
ACCELERATOR = {
    "resources": {"cpu": 2, "gpu": 1, "engine": 1},
    "types": {"decode": {"count": 5, "rates": {"cpu": 1.0, "gpu": 6.0, "engine": 4.0}},
              "filter": {"count": 4, "rates": {"cpu": 1.25, "gpu": 5.0}},
              "index": {"count": 3, "rates": {"cpu": 2.0, "gpu": 2.5}}},
}

#: A batch of 300 tasks of three types.
BATCH = {
    "resources": {"cpu": 2, "gpu": 1, "engine": 1},
    "types": {"decode": {"tasks": 120, "rates": {"cpu": 2.5, "gpu": 6.0, "engine": 10.0}},
              "filter": {"tasks": 100, "rates": {"cpu": 3.0, "gpu": 10.0}},
              "index": {"tasks": 80, "rates": {"cpu": 5.0, "gpu": 2.0}}},
}

RIVALS = ["best-fit", "jsq", "round-robin", "min-completion-time"]


def quoted(value):
    return json.dumps(value)


def scenario_text(scene):
    """As `allot solve` reads it."""
    lines = []
    for name, servers in scene["resources"].items():
        lines.append(f"[[resources]]\nname = {quoted(name)}\nservers = {servers}")
    for name, kind in scene["types"].items():
        rates = ", ".join(f"{r} = {v}" for r, v in kind["rates"].items())
        count = kind.get("count", kind.get("tasks"))
        lines.append(f"[[tasks]]\nname = {quoted(name)}\ncount = {count}\nrates = {{ {rates} }}")
        if "priority" in kind:
            lines.append(f"priority = {kind['priority']}")
    return "\n".join(lines) + "\n"


def job_text(scene, repeat=None, command=None):
    """As `allot run` reads it: the rates are for it to find out. command(rate) gives the words."""
    command = command or (lambda rate, _type, _resource: ["sleep", f"{1 / rate:.6f}"])
    lines = []
    for name, servers in scene["resources"].items():
        lines.append(f"[[resources]]\nname = {quoted(name)}\nservers = {servers}")
    for name, kind in scene["types"].items():
        lines.append(f"[[tasks]]\nname = {quoted(name)}\nrepeat = {repeat or kind['tasks']}")
        if "count" in kind:
            lines.append(f"count = {kind['count']}")
        if "priority" in kind:
            lines.append(f"priority = {kind['priority']}")
        words = ", ".join(f"{r} = {quoted(command(v, name, r))}" for r, v in kind["rates"].items())
        lines.append(f"command = {{ {words} }}")
    return "\n".join(lines) + "\n"


def allot_json(*arguments, **options):
    run = subprocess.run([ALLOT, *map(str, arguments), "--json"], capture_output=True, text=True, check=False, **options)
    if not run.stdout:
        raise RuntimeError(f"allot {arguments}: {run.stderr}")
    return json.loads(run.stdout)


def best_throughput(scene):
    """What the model says is possible, and the proof."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "scene.toml")
        path.write_text(scenario_text(scene))
        answer = allot_json("certify", path)
        return answer["throughput"], answer["upper_bound"]


def batch_bound(scene):
    """The linear program's bound on the finish: B / X with shares proportional to the batch."""
    weighted = {"resources": scene["resources"],
                "types": {n: {**k, "count": k["tasks"], "priority": k["tasks"]} for n, k in scene["types"].items()}}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "scene.toml")
        path.write_text(scenario_text(weighted))
        answer = allot_json("solve", path, "--objective", "priority", "--solver", "weighted")
        tasks = sum(k["tasks"] for k in scene["types"].values())
        return tasks / (answer["upper_bound"] or answer["throughput"]), answer


class Run:
    """One `allot run`, begun at once and waited for later, so that several can sleep side by side."""

    def __init__(self, text, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="allot-run-")
        self.job = pathlib.Path(self.folder.name, "job.toml")
        self.job.write_text(text)
        self.process = subprocess.Popen([ALLOT, "run", str(self.job), "--json", "--progress", "none", *map(str, options)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait(self):
        out, err = self.process.communicate()
        if not out:
            raise RuntimeError(f"allot run: status {self.process.returncode}: {err}")
        self.summary = json.loads(out)
        log = subprocess.run([ALLOT, "log", f"{self.job}.journal", "--json"], capture_output=True, text=True, check=True)
        self.rows = [json.loads(line) for line in log.stdout.splitlines()]
        self.folder.cleanup()
        return self

    def ends(self):
        """(end, type, resource) of all that ended well, in order."""
        return sorted((r["start_unix"] + r["wall_s"], r["type"], r["resource"]) for r in self.rows if r["status"] == "ok")

    def throughput(self, skip):
        """Completions per second after the first `skip` completions."""
        ends = self.ends()
        if len(ends) < skip + 10:
            return 0.0
        return (len(ends) - skip - 1) / (ends[-1][0] - ends[skip][0])

    def shares(self, skip):
        ends = self.ends()[skip:]
        return {t: sum(e[1] == t for e in ends) / len(ends) for t in {e[1] for e in ends}}


def closed_loop(scene, policies, seconds, skip):
    """policy -> throughput after warm-up; all at the same time, on a machine that has nothing to do but sleep."""
    runs = {p: Run(job_text(scene, repeat=100000), "--time-limit", seconds, "--policy", p) for p in policies}
    return {p: run.wait().throughput(skip) for p, run in runs.items()}


def finish_times(scene, policies):
    """policy (None: the objective `finish`) -> seconds."""
    runs = {p: Run(job_text(scene), *(["--policy", p] if p else [])) for p in policies}
    return {p: run.wait().summary["elapsed_s"] for p, run in runs.items()}


def split_by_rates(scene):
    """Each type over the resources that run it in proportion to slots times rate: what a careful user would write down."""
    return {name: {r: v * scene["resources"][r] for r, v in kind["rates"].items()} for name, kind in scene["types"].items()}


def split_by_programme(scene):
    """Each type as the linear program divides it: the best possible split, with known rates."""
    _, answer = batch_bound(scene)
    return {name: {r: scene["types"][name]["rates"].get(r, 0) * f for r, f in zip(answer["resources"], answer["time_shares"][i])}
            for i, name in enumerate(answer["tasks"])}


def gnu_parallel(scene, split=split_by_rates):
    """The batch by GNU parallel with a fixed split, one instance per resource with its slots. Seconds, or None without it."""
    if subprocess.run(["sh", "-c", "command -v parallel"], capture_output=True).returncode != 0:
        return None
    lists = {name: [] for name in scene["resources"]}
    for name, weights in split(scene).items():
        kind = scene["types"][name]
        weights = {r: w for r, w in weights.items() if w > 1e-9}
        given = 0
        for at, (resource, weight) in enumerate(weights.items()):
            last = at == len(weights) - 1
            tasks = kind["tasks"] - given if last else round(kind["tasks"] * weight / sum(weights.values()))
            given += tasks
            lists[resource] += [f"{1 / kind['rates'][resource]:.6f}"] * tasks
    begin = time.monotonic()
    running = [subprocess.Popen(["parallel", "--will-cite", "-j", str(scene["resources"][r]), "sleep", "{}"],
                                stdin=subprocess.PIPE, text=True) for r in lists]
    for process, times in zip(running, lists.values()):
        process.stdin.write("\n".join(times) + "\n")
        process.stdin.close()
    for process in running:
        process.wait()
    return time.monotonic() - begin
