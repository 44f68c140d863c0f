#!/usr/bin/env python3
"""How good and how cheap is `allot run`? Sleeping tasks of known rates against the model's optimum, other policies and
GNU parallel; the cost of dispatching `true` beside GNU parallel and xargs -P; and work in stages beside Snakemake and GNU
parallel. About seven minutes.

  bench_run [--quick | --pipelines]      --quick: the cost alone; --pipelines: the stages alone
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pipeline  # noqa: E402
import scenes  # noqa: E402

TASKS = 1000
SLOTS = 2
ROUNDS = 5


def seconds(command, **options):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    return time.monotonic() - begin


def cost_of_true():
    """Milliseconds per task of `true` on two slots, in shuffled rounds; the bare loop is fork, exec and wait alone."""
    numbers = "\n".join(map(str, range(TASKS))) + "\n"
    bare = "import os\nfor _ in range(%d):\n  os.waitpid(os.posix_spawnp('true', ['true'], os.environ), 0)\n" % TASKS
    ways = {
        "posix_spawn, one after the other": lambda folder: seconds([sys.executable, "-c", bare]),
        "xargs -P": lambda folder: seconds(["xargs", "-P", str(SLOTS), "-n", "1", "true"], input=numbers, text=True),
        "GNU parallel": lambda folder: seconds(["parallel", "--will-cite", "-j", str(SLOTS), "true"], input=numbers, text=True),
        "allot run": lambda folder: seconds([scenes.ALLOT, "run", "job.toml", "--fresh", "--progress", "none"], cwd=folder),
    }
    times = {name: [] for name in ways}
    overhead = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "job.toml").write_text(
            f'[[resources]]\nname = "cpu"\nservers = {SLOTS}\n[[tasks]]\nname = "t"\nrepeat = {TASKS}\ncommand = ["true"]\n')
        for round_ in range(ROUNDS):
            for name in list(ways)[round_ % len(ways):] + list(ways)[:round_ % len(ways)]:
                try:
                    times[name].append(1000 * ways[name](folder) / TASKS)
                except FileNotFoundError:
                    pass
        for _ in range(ROUNDS):
            run = subprocess.run([scenes.ALLOT, "run", "job.toml", "--fresh", "--json", "--progress", "none"], cwd=folder,
                                 capture_output=True, text=True, check=True)
            overhead.append(1000 * json.loads(run.stdout)["overhead_s"] / TASKS)
    print(f"== cost of a task: `true`, {TASKS} tasks, {SLOTS} slots, median of {ROUNDS} shuffled rounds")
    base = statistics.median(times["xargs -P"])
    for name, values in times.items():
        if values:
            print(f"  {name:34} {statistics.median(values):7.2f} ms/task   {statistics.median(values) / base:5.2f} x xargs")
    print(f"  of which allot's own loop          {statistics.median(overhead):7.3f} ms/task (dispatch, journal, bookkeeping)")


def closed_loops():
    for name, scene in (("2 x 2", scenes.TWO_BY_TWO), ("with an accelerator", scenes.ACCELERATOR)):
        best, bound = scenes.best_throughput(scene)
        got = scenes.closed_loop(scene, ["map", *scenes.RIVALS], 40, 60)
        print(f"== closed loop, {name}: the model's optimum is {best:.2f}/s (proven bound {bound:.2f}); rates unknown at the start")
        for policy, throughput in got.items():
            print(f"  {policy:22} {throughput:6.2f}/s   {100 * throughput / best:5.1f}% of the optimum")


def batch():
    bound, _ = scenes.batch_bound(scenes.BATCH)
    got = scenes.finish_times(scenes.BATCH, [None, *scenes.RIVALS])
    got["GNU parallel, split by rates"] = scenes.gnu_parallel(scenes.BATCH)
    got["GNU parallel, best split"] = scenes.gnu_parallel(scenes.BATCH, scenes.split_by_programme)
    print(f"== a batch of 300 tasks: no schedule can be sooner than {bound:.2f} s; rates unknown at the start")
    for policy, took in got.items():
        if took:
            print(f"  {policy or 'allot run (finish)':28} {took:6.2f} s   {took / bound:5.2f} x the bound")


if __name__ == "__main__":
    if "--pipelines" not in sys.argv[1:]:
        cost_of_true()
    if "--quick" not in sys.argv[1:]:
        if "--pipelines" not in sys.argv[1:]:
            closed_loops()
            batch()
        pipeline.compare()
