#!/bin/sh
# Builds real_machine with what a machine with CUDA and little else has, checks it and runs every experiment.
#   examples/real_machine/measure.sh [--headers DIR] OUT [options of real_machine]
# DIR holds headers of Random123, toml++ and nlohmann/json where the machine lacks them: see headers.sh.
set -eu
headers=
if [ "$1" = --headers ]; then headers=$2; shift 2; fi
out=$1; shift
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/real-machine
mkdir -p "$build"
cmake -S "$root" -B "$build" -D CMAKE_BUILD_TYPE=Release -D CMAKE_CXX_FLAGS=-march=native -D CMAKE_INCLUDE_PATH="$headers" \
  -D ALLOT_BUILD_APPS=OFF -D ALLOT_BUILD_TESTS=OFF -D ALLOT_BUILD_EXAMPLES=ON \
  -D ALLOT_WITH_CLP=OFF -D ALLOT_WITH_NLOPT=OFF -D ALLOT_WITH_SQLITE=OFF -D ALLOT_WITH_PYTHON=OFF >"$build.log" 2>&1 ||
  { cat "$build.log" >&2; exit 1; }
cmake --build "$build" --target real_machine -j "$(nproc)" >"$build.log" 2>&1 || { tail -50 "$build.log" >&2; exit 1; }
mkdir -p "$out"
{ uname -sr; lscpu | sed -n 's/^\(Model name\|CPU(s)\|Thread(s) per core\|L3 cache\)/\1/p'; nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
  nvcc --version | tail -2 | head -1 || true; } >"$out/machine.txt" 2>/dev/null
program=$build/examples/real_machine/real_machine
# Who really decodes? What the driver says of the multiprocessors and of the JPEG engines while one pair runs alone.
if command -v nvidia-smi >/dev/null; then
  echo "pair,gpu_percent,jpeg_percent" >"$out/utilisation.csv"
  for pair in decode,gpu decode,jpeg product,gpu; do
    "$program" load --pair "$pair" --warm-up 0.5 --seconds 7 &
    sleep 5 # it makes its inputs first
    echo "${pair%,*} on ${pair#*,},$(nvidia-smi --query-gpu=utilization.gpu,utilization.jpeg --format=csv,noheader,nounits)" >>"$out/utilisation.csv"
    wait
  done
fi
# How many streams behave as servers? More of them than the experiments use.
"$program" servers --streams 4 --out "$out" "$@"
exec "$program" all --out "$out" "$@"
