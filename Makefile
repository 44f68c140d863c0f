# The entry to everything. On a bare Debian 12, `make run` and `make test` need only make and a network: tools/setup
# installs what is missing. For the list of targets: make help.

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
JOBS ?= $(shell nproc)

command = build/allot
# In eighths of a core: a test that computes takes six of them, one that mostly waits takes two (cmake/AllotTest.cmake).
export CTEST_PARALLEL_LEVEL ?= $(shell echo $$((8 * $(JOBS))))
export CMAKE_BUILD_PARALLEL_LEVEL ?= $(JOBS)

# Not $(MAKE) directly in the recipe: make would run the line under `make -n`, too, and all tests with it.
beside = $(MAKE) --no-print-directory

# $(call heading,text): marks a section of the output.
heading = @printf '\n==== %s\n' '$(1)'

.DEFAULT_GOAL := help
.PHONY: help run build python explorer docs test sanitized test-long bench figures goldens format lint install package clean setup
# The steps of a target run in the given order, also under make -j; cmake and ctest use the cores.
.NOTPARALLEL:

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

run: ## build the command alone and try it on an example
	@tools/setup build
	@cmake --preset release -D ALLOT_BUILD_TESTS=OFF -D ALLOT_BUILD_BENCH=OFF -D ALLOT_WITH_EXECUTOR=OFF >/dev/null
	@cmake --build --preset release --target allot_command
	@ln -sfn release/apps/allot/allot $(command)
	$(call heading,build/allot solve examples/plans/worth.toml --explain)
	@$(command) solve examples/plans/worth.toml --explain

build: ## build the command: build/allot, and build/allot-mpi
	@tools/setup build mpi test bench
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target allot_programs
	@ln -sfn release/apps/allot/allot $(command)
	@[ ! -x build/release/integrations/mpi/allot-mpi ] || ln -sfn release/integrations/mpi/allot-mpi $(command)-mpi

python: ## build the module for Python: build/release/integrations/python
	@tools/setup build python
	@cmake --preset release -D ALLOT_WITH_PYTHON=ON >/dev/null
	@cmake --build --preset release --target allot_python

explorer: ## build the web page with the library inside: build/explorer/index.html
	@tools/setup build explorer
	@command -v npm >/dev/null || tools/setup node
	@cmake --preset wasm >/dev/null
	@cmake --build --preset wasm
	@$(MAKE) --no-print-directory --silent explorer/node_modules/.package-lock.json
	@cd explorer && npm run --silent build -- --logLevel warn
	@ls -l build/explorer/index.html

explorer/node_modules/.package-lock.json: explorer/package-lock.json
	@cd explorer && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

docs: ## build the documentation site: build/site/index.html
	@tools/setup build mpi test bench python site
	@cmake --preset release -D ALLOT_WITH_PYTHON=ON >/dev/null
	@cmake --build --preset release --target allot_python
	@tools/site --doxygen --python build/release/integrations/python

setup: ## install what building, testing and checking needs
	@tools/setup build mpi test shells browser explorer slurm python dask site starpu bench fuzz format lint

test: ## everything a change must pass: checks, tests, sanitizers, a little fuzzing
	@tools/setup build mpi test shells browser explorer slurm python dask site starpu bench fuzz format
	$(call heading,format)
	@tools/format --check
	$(call heading,includes)
	@tools/check_includes
	$(call heading,build: release)
	@cmake --preset release -D ALLOT_WITH_PYTHON=ON -D ALLOT_WITH_STARPU=ON >/dev/null
	@$(MAKE) --no-print-directory build
	@cmake --build --preset release
	$(call heading,test: release; meanwhile the page and the sanitized library are built with what is left of the processors)
	@tools/side_by_side --nice 19 'tools/tested ctest --preset release --label-exclude long' '$(beside) explorer sanitized'
	$(call heading,test: asan; meanwhile the page and the fuzzers: $(FUZZ_SECONDS) s each)
	@tools/side_by_side 'tools/tested ctest --preset asan --label-regex unit' '(cd explorer && npm test --silent) && tools/fuzz $(FUZZ_SECONDS) $(JOBS)'
	$(call heading,all passed)

sanitized: # what `make test` runs with the address and undefined-behaviour sanitizers
	@cmake --preset asan >/dev/null
	@cmake --build --preset asan --target allot_unit_tests allot_fuzzers

test-long: ## more: thread sanitizer, the debug build, long tests, ten minutes of fuzzing each
	@$(MAKE) --no-print-directory test FUZZ_SECONDS=600
	$(call heading,test: asan (all))
	@cmake --build --preset asan
	@ALLOT_WHOLE_TESTS=1 ALLOT_SCHEDULES=1000 tools/tested ctest --preset asan --label-exclude long
	$(call heading,test: release (long))
	@tools/setup package
	@tools/tested ctest --preset release --label-regex long --no-tests=ignore
	$(call heading,test: dev)
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev
	@tools/tested ctest --preset dev
	$(call heading,test: tsan)
	@cmake --preset tsan >/dev/null
	@cmake --build --preset tsan
	@ALLOT_WHOLE_TESTS=1 ALLOT_SCHEDULES=1000 tools/tested ctest --preset tsan

bench: ## run the benchmarks, with the rivals they are compared with
	@tools/setup build mpi test bench python dask starpu rivals
	@cmake --preset release >/dev/null
	@cmake --build --preset release
	@for program in build/release/bench/*; do \
	  if [ -f "$$program" ] && [ -x "$$program" ]; then printf '\n==== %s\n' "$$program"; "$$program" || exit 1; fi; \
	done
	$(call heading,allot run)
	@bench/run/run.py
	$(call heading,StarPU)
	@bench/starpu/run.py
	$(call heading,Python)
	@PYTHONPATH=build/release/integrations/python /usr/bin/python3 bench/python/crossing.py $(command)
	@PYTHONPATH=build/release/integrations/python /usr/bin/python3 bench/python/rivals.py
	@PYTHONPATH=build/release/integrations/python /usr/bin/python3 bench/python/executor.py
	@PYTHONPATH=build/release/integrations/python /usr/bin/python3 bench/python/dask.py

figures: build ## run all experiments in full (minutes) and put the current figures and verdicts into docs
	@$(command) reproduce --out out/reproduce
	@for figure in docs/figures/*.svg; do cp "out/reproduce/figures/$${figure##*/}" "$$figure"; done
	@cp out/reproduce/claims.md docs/background/claims.md

goldens: ## after a wanted change: write pinned output, and what is made from tables, anew
	@tools/setup build mpi test bench
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target allot_command list_fields golden_test
	@tools/fields build/release/tests/list_fields build/release/apps/allot/allot
	@ALLOT_UPDATE_GOLDEN=1 ctest --preset release --tests-regex Transcript

format: ## clang-format in place
	@tools/setup format
	@tools/format

lint: ## format check and clang-tidy, over what changed since the last clean lint
	@tools/setup build mpi test format lint
	@tools/format --check
	@tools/check_includes
	@cmake --preset tidy >/dev/null
	@cmake --build --preset tidy

install: build ## install command, manual, completion, library and headers under PREFIX (default /usr/local)
	@cmake --build --preset release --target allot
	@cmake --install build/release --prefix "$(PREFIX)"

package: ## make the source archive, Debian packages, a wheel and an SBOM: build/packages
	@tools/setup build mpi test bench python starpu package
	@cmake --preset release -D ALLOT_WITH_PYTHON=ON -D ALLOT_WITH_STARPU=ON >/dev/null
	@cmake --build --preset release --target allot_programs allot_python
	@tools/package

clean: ## remove build/
	@rm -rf build
