#!/usr/bin/env python3
"""tests/docs/cpp_blocks_test.py COMPILER: the C++ blocks of the documentation compile.

A block leaves to the reader what is theirs; YOURS has it here. Headers are included once, and each block is a function.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from pages import ROOT, blocks

# What a block begins with -> what stands around it.
YOURS = {
    "allot::Dispatcher dispatcher(": "void run_it_on(std::size_t); double busy_seconds; bool ok;",
    "allot::System system": "",
    "allot::ServiceOrder order": "std::size_t types; std::vector<double> counts_here; std::vector<allot::Count> waiting; double now, seconds;",
    "struct Task": "std::size_t types, resources; allot::ResourceId j; std::vector<double> weights; double now, seconds; allot::TaskType type;"
                   "extern allot::Dispatcher& dispatcher;",
    "options.policy": "allot::DispatcherOptions options; std::vector<allot::Resource> resources; std::vector<allot::TaskClass> types;"
                      "std::vector<allot::RatePrior> priors; allot::TaskType type; allot::ResourceId j; allot::Clock::time_point now, something_changes; double busy_seconds; bool ok;"
                      "struct Queue { std::size_t size(); int pop_front(); }; struct Queues { Queue& operator[](allot::TaskType); };"
                      "Queues tasks_of; void run(int); void wait_until(allot::Clock::time_point);",
}
ELSEWHERE = {"struct Launch": "needs CUDA"}
HEADERS = "#include <cstddef>\n#include <functional>\n#include <vector>\n"


def program(page):
    """All blocks of a page as one file, with the lines that they have there."""
    headers, bodies = [HEADERS], []
    for number, (line, _, text) in enumerate(blocks(page, "cpp")):
        includes = re.findall(r"^#include .*$", text, re.MULTILINE)
        body = re.sub(r"^#include .*$", "", text, flags=re.MULTILINE)
        start = next((key for key in (*YOURS, *ELSEWHERE) if body.strip().startswith(key)), None)
        if start is None:
            sys.exit(f"{page}:{line}: a block that is not known here; add it to YOURS")
        if start in ELSEWHERE:
            continue
        headers += includes
        setting = YOURS[start]
        task = "" if not start.startswith("struct Task") else "Task task;"
        body = body.replace("allot::Lines lines", f"{task} allot::Lines lines", 1)
        bodies.append(f"namespace block{number} {{ {setting}\nvoid block() {{\n#line {line + 1} \"{page}\"\n{body}\n}} }}\n")
    return "\n".join(headers) + "\n" + "".join(bodies)


def main(compiler):
    wrong = 0
    for page in ("docs/reference/cpp.md", "docs/guides/embedding.md"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "blocks.cpp")
            file.write_text(program(page), encoding="utf-8")
            done = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-I", str(ROOT), str(file)], check=False)
            wrong += done.returncode != 0
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
