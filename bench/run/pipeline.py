"""Work in stages: `allot run` beside Snakemake and GNU parallel, on tasks that sleep and touch a file.

Rivals that cannot choose a place are told the best one: which stage runs where is theirs to write down, and for GNU parallel
also the split by rates. allot is told nothing; it has the commands for each place, and learns.
"""
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import scenes

ITEMS = 100

#: One kind of slot: what is left is streaming, and the cost of a task.
EVEN = {
    "resources": {"cpu": 4},
    "stages": {"decode": {"cpu": 0.24}, "detect": {"cpu": 0.40}, "encode": {"cpu": 0.16}},
}

#: A card that is best at the second stage and could help with the first.
MIXED = {
    "resources": {"cpu": 2, "card": 1},
    "stages": {"decode": {"cpu": 0.24, "card": 0.12}, "detect": {"cpu": 1.00, "card": 0.12}, "encode": {"cpu": 0.20}},
}


def job_text(scene, with_rates):
    lines = []
    for name, servers in scene["resources"].items():
        lines.append(f'[[resources]]\nname = "{name}"\nservers = {servers}')
    before = None
    for name, seconds in scene["stages"].items():
        lines.append(f'[[tasks]]\nname = "{name}"\nshell = true\noutput = "{name}/{"{}" if before is None else "{/}"}"')
        lines.append(f"repeat = {ITEMS}" if before is None else f'from = "{before}"')
        lines.append("command = { " + ", ".join(f'{r} = "sleep {s} && touch {{out}}"' for r, s in seconds.items()) + " }")
        if with_rates:
            lines.append("rates = { " + ", ".join(f"{r} = {1 / s}" for r, s in seconds.items()) + " }")
        before = name
    return "\n".join(lines) + "\n"


def bound(scene):
    """No schedule is done sooner, by the true rates."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "job.toml")
        path.write_text(job_text(scene, True))
        return scenes.allot_json("run", path, "-n")["finish_bound_s"]


def timed(command, folder, **options):
    begin = time.monotonic()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - begin


def ours(scene, folder):
    pathlib.Path(folder, "job.toml").write_text(job_text(scene, False))
    return timed([scenes.ALLOT, "run", "job.toml", "--progress", "none"], folder)


def as_it_was(scene, folder):
    """The scene with the times that tasks had, by the journal of `ours`: from their start to the next one's of their slot, which is
    mostly at once. What they took longer than told, and until a process is started, is the machine's."""
    log = subprocess.run([scenes.ALLOT, "log", "job.toml.journal", "--json"], cwd=folder, capture_output=True, text=True, check=True)
    rows = sorted((json.loads(line) for line in log.stdout.splitlines()), key=lambda row: row["start_unix"])
    ends, gaps, walls = {}, {}, {}
    for row in rows:
        slot = (row["resource"], row["slot"])
        if slot in ends:
            gaps.setdefault(row["resource"], []).append(row["start_unix"] - ends[slot])
        ends[slot] = row["start_unix"] + row["wall_s"]
        walls.setdefault((row["type"], row["resource"]), []).append(row["wall_s"])
    return {**scene, "stages": {name: {r: statistics.mean(walls.get((name, r), [s])) + statistics.median(gaps.get(r, [0])) for r, s in seconds.items()}
                                for name, seconds in scene["stages"].items()}}


def fastest(seconds):
    return min(seconds, key=seconds.get)


def snakemake(scene, folder):
    """Each stage where it is fastest; what has only one kind of slot is left to the number of cores."""
    rules = [f'rule all:\n    input: expand("{list(scene["stages"])[-1]}/{{n}}", n=range(1, {ITEMS + 1}))']
    before = None
    for name, seconds in scene["stages"].items():
        place = fastest(seconds)
        rules.append(f'rule {name}:\n' + (f'    input: "{before}/{{n}}"\n' if before else "") +
                     f'    output: "{name}/{{n}}"\n    resources: {place}=1\n    shell: "sleep {seconds[place]} && touch {{output}}"')
        before = name
    pathlib.Path(folder, "Snakefile").write_text("\n".join(rules) + "\n")
    slots = sum(scene["resources"].values())
    limits = [f"{r}={n}" for r, n in scene["resources"].items()]
    return timed(["snakemake", "--cores", str(slots), "--resources", *limits, "--quiet"], folder)


def parallel_stages(scene, folder):
    """Stage by stage, each split over the places that run it in proportion to their speed."""
    took = 0
    for name, seconds in scene["stages"].items():
        pathlib.Path(folder, name).mkdir()
        speed = {r: scene["resources"][r] / s for r, s in seconds.items()}
        lists = {r: [] for r in seconds}
        for n in range(1, ITEMS + 1):  # where it is done first
            place = min(lists, key=lambda r: (len(lists[r]) + 1) / speed[r])
            lists[place].append(str(n))
        begin = time.monotonic()
        running = []
        for place, numbers in lists.items():
            process = subprocess.Popen(["parallel", "--will-cite", "-j", str(scene["resources"][place]),
                                        f"sleep {seconds[place]} && touch {name}/{{}}"], cwd=folder, stdin=subprocess.PIPE, text=True)
            process.stdin.write("\n".join(numbers) + "\n")
            process.stdin.close()
            running.append(process)
        for process in running:
            process.wait()
        took += time.monotonic() - begin
    return took


def parallel_chains(scene, folder):
    """One task for each item, with all of its stages in a row: possible where there is one kind of slot only."""
    if len(scene["resources"]) > 1:
        return None
    place, slots = next(iter(scene["resources"].items()))
    for name in scene["stages"]:
        pathlib.Path(folder, name).mkdir()
    script = " && ".join(f"sleep {s[place]} && touch {name}/{{}}" for name, s in scene["stages"].items())
    numbers = "\n".join(map(str, range(1, ITEMS + 1))) + "\n"
    return timed(["parallel", "--will-cite", "-j", str(slots), script], folder, input=numbers, text=True)


WAYS = {"allot run": (ours, None), "Snakemake": (snakemake, "snakemake"), "GNU parallel, stage by stage": (parallel_stages, "parallel"),
        "GNU parallel, a chain for each item": (parallel_chains, "parallel")}


def compare():
    for title, scene in (("4 slots of one kind", EVEN), ("2 slots and a card", MIXED)):
        least = bound(scene)
        print(f"== a pipeline of {len(scene['stages'])} stages, {ITEMS} items, {title}: no schedule is done sooner than {least:.2f} s")
        for name, (way, program) in WAYS.items():
            if program and not shutil.which(program):
                continue
            with tempfile.TemporaryDirectory(prefix="allot-pipeline-") as folder:
                took = way(scene, folder)
                really = bound(as_it_was(scene, folder)) if way is ours else None
            if took:
                print(f"  {name:38} {took:6.2f} s   {took / least:5.2f} x the bound" +
                      (f"   {took / really:5.2f} x the bound at the times that tasks and starting them took" if really else ""), flush=True)
