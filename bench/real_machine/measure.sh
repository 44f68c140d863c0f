#!/bin/sh
# Builds real_machine with what a machine with CUDA and little else has, checks it and runs every experiment: twelve
# minutes on 16 cores.
#   bench/real_machine/measure.sh [--headers DIR] OUT [options of real_machine]
# DIR holds headers of Random123, toml++ and nlohmann/json where the machine lacks them: see headers.sh.
set -eu
headers=
if [ "${1-}" = --headers ]; then headers=$2; shift 2; fi
if [ $# -eq 0 ]; then sed -n '2,5s/^# *//p' "$0" >&2; exit 2; fi
out=$1; shift
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
{
  uname -sr
  lscpu | grep -E '^(CPU\(s\)|Model name|CPU family|Model|Thread|L3)' || true
  c++ --version | head -1
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    nvcc --version | grep release || true
  fi
  echo "measure.sh OUT $*"
} >"$out/machine.txt" 2>/dev/null
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
exec "$program" all --out "$out" --seconds 1.5 --warm-up 1.3 "$@"
