#!/bin/sh
# Builds real_machine with what a machine with CUDA and little else has, and measures, on 16 cores:
#   measure.sh [--headers DIR] OUT share [options]    checks; what tasks share with 4, 1, 2 and 8 streams: 8 minutes
#   measure.sh [--headers DIR] OUT race [options]     policies with 4 streams and with one: 9 minutes
#   measure.sh [--headers DIR] OUT one [options]      everything with one stream: 12 minutes
# DIR holds headers of Random123, toml++ and nlohmann/json where the machine lacks them: see headers.sh. `race` uses what
# `share` has measured since the machine was started, and measures it itself where there is nothing.
#
# On a machine that is lent for ten minutes at a time, after `bench/real_machine/headers.sh build/headers` here, and
# with build/headers sent along:
#   bench/real_machine/measure.sh --headers "$PWD/build/headers" "$OUT" share --budget 500
#   bench/real_machine/measure.sh --headers "$PWD/build/headers" "$OUT" race --budget 520
# In short, the policies alone, two runs of each after a short `share`, in less than 8 minutes with building:
#   bench/real_machine/measure.sh --headers "$PWD/build/headers" "$OUT" race --budget 420 --repeats 2
set -eu
began=$(date +%s)
headers=
if [ "${1-}" = --headers ]; then headers=$2; shift 2; fi
if [ $# -lt 2 ]; then sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; fi
out=$1; what=$2; shift 2
case $what in share | race | one) ;; *) echo "measure.sh: share, race or one, not '$what'" >&2; exit 2 ;; esac
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/real-machine
mkdir -p "$build" "$out"
{
  cmake -S "$root" -B "$build" -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=-march=native -D CMAKE_INCLUDE_PATH="$headers" \
    -D ALLOT_BUILD_APPS=OFF -D ALLOT_BUILD_TESTS=OFF -D ALLOT_BUILD_EXAMPLES=OFF -D ALLOT_BUILD_REAL_MACHINE=ON \
    -D ALLOT_WITH_CLP=OFF -D ALLOT_WITH_NLOPT=OFF -D ALLOT_WITH_SQLITE=OFF -D ALLOT_WITH_GMP=OFF -D ALLOT_WITH_PYTHON=OFF -D ALLOT_WITH_STARPU=OFF &&
    cmake --build "$build" --target real_machine -j "$(nproc)"
} >"$build.log" 2>&1 || { tail -50 "$build.log" >&2; exit 1; }
program=$build/bench/real_machine/real_machine
echo "built after $(($(date +%s) - began)) s"
{
  uname -sr
  lscpu | grep -E '^(CPU\(s\)|Model name|CPU family|Model|Thread|L3)' || true
  c++ --version | head -1
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    nvcc --version | grep release || true
  fi
  echo "measure.sh OUT $what $*"
} >"$out/machine.txt" 2>/dev/null

# What is left of a budget, of which building has taken its part: --budget S, the last of its kind.
left() {
  budget=
  while [ $# -gt 0 ]; do
    if [ "$1" = --budget ]; then budget=$2; fi
    shift
  done
  if [ -n "$budget" ]; then echo "--budget $((budget - $(date +%s) + began))"; fi
}

# What was measured on this machine since it was started: of another one it would say little.
kept=$build/measured-$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || echo here)
case $what in
share)
  mkdir -p "$kept"
  "$program" check --streams 4 "$@" >"$out/check.txt" || { cat "$out/check.txt" >&2; exit 1; }
  echo "checked after $(($(date +%s) - began)) s"
  status=0
  # shellcheck disable=SC2046 # an option and its value
  "$program" share --streams 4,1,2,8 --out "$out" "$@" $(left "$@") || status=$?
  if [ -f "$out/shared-4.toml" ]; then cp "$out/shared-4.toml" "$kept"; fi
  # Their numbers are in fits.csv, too.
  rm -f "$out"/shared-1.toml "$out"/shared-2.toml "$out"/shared-8.toml
  if [ "$status" -ne 0 ]; then exit "$status"; fi
  ;;
race)
  if [ -f "$kept/shared-4.toml" ]; then
    cp "$kept/shared-4.toml" "$out"
  else
    # shellcheck disable=SC2046
    "$program" share --streams 4 --out "$out" --placements 12 --seconds 0.35 "$@" $(left "$@")
  fi
  # shellcheck disable=SC2046
  "$program" race --streams 4 --out "$out" "$@" $(left "$@")
  ;;
one)
  "$program" check "$@" >"$out/check.txt" || { cat "$out/check.txt" >&2; exit 1; }
  # Who really decodes? What the driver says of the multiprocessors and of the JPEG engines while one pair runs alone.
  if command -v nvidia-smi >/dev/null; then
    echo "pair,gpu_percent,jpeg_percent" >"$out/utilisation.csv"
    for pair in decode,gpu decode,jpeg product,gpu sort,gpu; do
      "$program" load --pair "$pair" "$@" --warm-up 0.5 --seconds 6 &
      running=$!
      sleep 4.5 # it makes its inputs first
      for sample in 1 2 3; do
        echo "${pair%,*} on ${pair#*,},$(nvidia-smi --query-gpu=utilization.gpu,utilization.jpeg --format=csv,noheader,nounits | tr -d ' ')" >>"$out/utilisation.csv"
        sleep 0.5
      done
      wait "$running"
    done
  fi
  # How many streams behave as servers? More of them than the experiments use; and the cores, all of them.
  "$program" servers "$@" --streams 4 --out "$out" --seconds 1
  mv "$out/servers.csv" "$out/servers-4-streams.csv"
  "$program" servers "$@" --out "$out" --seconds 1
  "$program" all --out "$out" --seconds 1.5 --warm-up 1.3 "$@"
  ;;
esac
echo "done after $(($(date +%s) - began)) s"
