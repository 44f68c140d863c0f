#!/usr/bin/env python3
"""Plants faults in the loop of `allot run`, one at a time, and looks whether the simulated worlds notice.

mutants.py BUILD_DIR [--worlds N] [NAME...]   prints, for each fault, the first seed that shows it.

Each fault is a replacement of text in a source file; the file is compiled as in BUILD_DIR, together with the same others, and
linked in front of the library. A text that is not there any more is an error: the fault must be planted anew."""
import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
RUN = "allot/run/"

# name: [(file, before, after), ...]
MUTANTS = {
    "a retry at the end of a batch waits for the place it must avoid": [
        (RUN + "starts.cpp", "if (!may_run(type, r, groups[g].avoid)) continue;", "if (!pairs_.usable(type, r)) continue;"),
        (RUN + "starts.cpp", "while (attempts_.empty() && start_anything(now, start)) {", "while (false) {"),
    ],
    "neighbours are blamed for a loss": [
        (RUN + "retry_rule.cpp", "if (outcome.shared) {", "if (false) {"),
        (RUN + "retry_rule.cpp", "verdict.forgiven = outcome.shared;", ""),
    ],
    "who says 'killed' unasked is tried again for ever": [
        (RUN + "loop.cpp", "if (outcome.status == AttemptStatus::kKilled && !attempt.signalled) {", "if (false) {"),
    ],
    "time limits are left to the workers": [
        (RUN + "loop.cpp", "if (attempt.request.timeout_s > 0) {", "if (false) {"),
    ],
    "what cannot be killed is waited for": [
        (RUN + "loop_control.cpp", "} else if (halting_.phase() == RunPhase::kKilling) {", "} else if (false) {"),
    ],
    "sleep counts as time": [
        (RUN + "loop.cpp", "  overdue_.slept(time);\n", ""),
    ],
    "a refused task has no final record": [
        (RUN + "loop.cpp", "  end.error = problem;\n  keep_record(end, true);", "  end.error = problem;\n  keep_record(end, false);"),
    ],
    "a ticket is kept when its task is lost": [
        (RUN + "placer.cpp", "  dispatcher_->cancel(ticket);\n  if (placed.in_order)", "  if (placed.in_order)"),
    ],
    "tasks that are to be alone are forgotten": [
        (RUN + "backlog.cpp", "(sleeper.retry.alone ? queue.alone : queue.retries).push_back(sleeper.retry);",
         "if (!sleeper.retry.alone) queue.retries.push_back(sleeper.retry);"),
    ],
    "tasks that are to be alone are not": [
        (RUN + "starts.cpp", "return attempt == nullptr || attempt->alone_until <= now;", "return true;"),
    ],
    "a lost lane is never opened again": [
        (RUN + "crew.cpp", "line.reopen = now + to_duration(delay);", "line.reopen = now + to_duration(1e6);"),
    ],
    "a stuck slot is thought to be free": [
        (RUN + "crew.cpp", "slot.state = Slot::State::kStuck;", "slot.state = Slot::State::kIdle;"),
    ],
    "a time is rounded down and asked for again and again": [
        (RUN + "placer.cpp", "std::chrono::ceil<Clock::duration>", "std::chrono::floor<Clock::duration>"),
        (RUN + "placer.cpp", "if (at && *at > now && ", "if (at && "),
    ],
    "what failed for good is tried again on resume": [
        (RUN + "loop.cpp", "      case TaskState::Kind::kFailed:\n        progress_.found_failed(type);",
         "      case TaskState::Kind::kFailed:\n        backlog_.add(type, at);"),
    ],
    "more are in flight than the job allows": [
        (RUN + "starts.cpp", "return attempts_.by_type()[index(i)] < placer_.limits()[index(i)];", "return true;"),
    ],
    "what waits behind a task that hangs waits for ever": [
        (RUN + "starts.cpp", "hung_[j] = busy[j] && !works[j];", "hung_[j] = false;"),
    ],
    "a resource that is back is not used": [
        (RUN + "loop.cpp", "      placer_.restore(news.resource);\n", ""),
    ],
    "a run without workers waits for ever": [
        (RUN + "loop.cpp", "    if (!removals_.empty() || !stranded()) return false;", "    return false;"),
    ],
    "a run that is out of time is said to have been interrupted": [
        (RUN + "loop_control.cpp", "  out_of_time_ = true;\n", ""),
    ],
    "tasks start whether there is room or not": [
        (RUN + "holdings.cpp", "return shape_->is_shared(draw.capacity) || draw.amount", "return true || draw.amount"),
    ],
    "tasks that are to be alone start without room": [
        (RUN + "starts.cpp", "      if (!holdings_.fits(type, slot.resource)) continue;\n", ""),
    ],
    "when nothing runs anything starts": [
        (RUN + "starts.cpp", " || !holdings_.is_room_for(type, slot.resource)", ""),
    ],
    "what a lost task held is free at once": [
        (RUN + "crew.cpp", "return to_duration(options_.lane.silence.count()) + kGuarded;", "return Clock::duration{};"),
    ],
    "what a task held that cannot be killed is free": [
        (RUN + "loop.cpp", "holdings_.keep_while_stuck(attempt.holding, attempt.slot);", "holdings_.give_back(attempt.holding);"),
    ],
    "what a refused task was to hold is never free again": [
        (RUN + "loop.cpp", "  ++refused_;\n  holdings_.give_back(attempt.holding);\n", "  ++refused_;\n"),
    ],
    "what lost tasks held is never free again": [
        (RUN + "holdings.cpp", "if (lingering_[at].first > now) continue;", "continue;"),
    ],
    "what there is for all is counted by machine": [
        ("allot/jobs/job.cpp", "const bool is_far = capacity.per == JobCapacity::Per::kMachine &&", "const bool is_far ="),
    ],
    "two tasks have the same slot": [
        (RUN + "holdings.cpp", "    free[slot] -= much;\n", ""),
    ],
    "a part of a slot is taken where there is less": [
        (RUN + "holdings.cpp", "!has_place && free[s] + kRounding >= part", "!has_place && free[s] > 0"),
        (RUN + "holdings.cpp", "if (free[s] + kRounding >= need.part &&", "if (free[s] > 0 &&"),
    ],
    "a task does not wait for the one whose output it takes": [
        (RUN + "gates.cpp", "if (job_.tasks[type].from && states_[before(task)] != State::kDone) return;", ""),
    ],
    "a type does not wait for all that it comes after": [
        (RUN + "gates.cpp", "if (states_[task] != State::kWaits || kind.before > 0) return;", "if (states_[task] != State::kWaits) return;"),
    ],
    "what waited for a failed task waits for ever": [
        (RUN + "gates.cpp", "    doom_followers(task, task, news);\n", ""),
    ],
    "what waited for one that failed in an earlier run waits for ever": [
        (RUN + "gates.cpp", "doom(task, cause_of(before(task)), news);", ""),
    ],
    "a stage makes outputs without end": [
        (RUN + "gates.cpp", "(!at_most || kind.in_use < *at_most)", "true"),
    ],
    "the outputs of an earlier run do not count": [
        (RUN + "gates.cpp", "    if (type.at_most) ++kinds_[type_of(task)].in_use;\n    // A run", "    // A run"),
    ],
    "a task that failed keeps its room": [
        (RUN + "gates.cpp", "if (had_room) free_room(type_of(task), news);", ""),
    ],
    "an output whose taker failed keeps its room": [
        (RUN + "gates.cpp", "  } else {\n    free_room(type, news);\n  }", "  } else if (all_well) {\n    free_room(type, news);\n  }"),
    ],
    "an output is removed before the records are durable": [
        (RUN + "loop_stages.cpp", "removals_.front().first <= journal_.committed()", "true"),
    ],
    "an output is removed while somebody needs it": [
        (RUN + "gates.cpp", "if (!job_.tasks[type].keep && all_well) {", "if (!job_.tasks[type].keep) {"),
    ],
    "what a killed run left is not removed": [
        (RUN + "gates.cpp", "    if (to_take_[task] == 0) all_have_taken(task, news);\n  }\n  for (const TaskType type", "  }\n  for (const TaskType type"),
    ],
    "outputs are left when the run ends": [
        (RUN + "loop_control.cpp", "    remove_outputs();\n", ""),
    ],
    "tasks that wait get the room of those that nothing can run": [
        (RUN + "loop.cpp", "    tasks.insert(tasks.end(), queued.begin(), queued.end());", "    tasks.insert(tasks.begin(), queued.begin(), queued.end());"),
    ],
    "a run ends while outputs are to be removed": [
        (RUN + "loop.cpp", "if (!removals_.empty() || !stranded()) return false;", "if (!stranded()) return false;"),
    ],
    "success is counted as failure in the summary": [
        (RUN + "progress.cpp", "ok ? found_done(type) : found_failed(type);", "found_failed(type);"),
    ],
}


def compiled(build, texts, folder):
    """The objects of sources with other texts; where files are compiled together, of all that are with them."""
    entries = json.loads((build / "compile_commands.json").read_text())
    units = {}  # by file that is compiled: its entry, and its text
    for source, text in texts.items():
        mutated = folder / source.replace("/", "-")
        mutated.write_text(text)
        path = str(SOURCE / source)
        line = f'#include "{source}"'
        for entry in entries:
            if entry["file"] == path:
                units[path] = (entry, f'#include "{mutated}"\n')
            elif "/together/" in entry["file"] and line in pathlib.Path(entry["file"]).read_text():
                _, unit = units.get(entry["file"], (entry, pathlib.Path(entry["file"]).read_text()))
                units[entry["file"]] = (entry, unit.replace(line, f'#include "{mutated}"'))
    objects = []
    for number, (name, (entry, text)) in enumerate(units.items()):
        words = shlex.split(entry["command"])
        while not words[0].endswith("++"):  # ccache, and what sets its environment
            words = words[1:]
        unit = folder / f"unit{number}.cpp"
        unit.write_text(text)
        objects.append(folder / f"unit{number}.o")
        for at, word in enumerate(words):
            if word == "-o":
                words[at + 1] = str(objects[-1])
            elif word == name:
                words[at] = str(unit)
        subprocess.run([*words, "-w"], cwd=entry["directory"], check=True)
    return objects


def link(build, objects, folder):
    """The program with these objects in front of the library."""
    program = folder / "worlds"
    steps = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", "tests/worlds"], capture_output=True, text=True, check=True).stdout
    words = shlex.split(steps.strip().splitlines()[-1])
    words = words[words.index("&&") + 1:] if "&&" in words else words
    words = words[:words.index("&&")] if "&&" in words else words
    words[words.index("-o") + 1] = str(program)
    first = next(at for at, word in enumerate(words) if word.endswith(".o"))
    words[first:first] = [str(o) for o in objects]
    subprocess.run(words, cwd=build, check=True)
    return program


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--worlds", type=int, default=1000)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    found = 0
    missed = []
    for name, edits in MUTANTS.items():
        if arguments.names and not any(part in name for part in arguments.names):
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary)
            texts = {}
            for source, before, after in edits:
                text = texts.get(source) or (SOURCE / source).read_text()
                if before not in text:
                    sys.exit(f"{name}: {source} does not have the text any more: {before}")
                texts[source] = text.replace(before, after)
            program = link(build, compiled(build, texts, folder), folder)
            run = subprocess.run([program, "--seeds", f"1-{arguments.worlds}", "--first"], capture_output=True, text=True)
            shown = [line for line in run.stdout.splitlines() if line.startswith("seed ")]
            print(f"{'found' if shown else 'MISSED':6}  {name}" + (f": {shown[0]}" if shown else ""), flush=True)
            found += 1 if shown else 0
            if not shown:
                missed.append(name)
    print(f"{found} found, {len(missed)} missed")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
