#!/bin/sh
# Copies the headers that allot is built from and that a machine without a network may lack: headers.sh DIR
set -eu
mkdir -p "$1"
for folder in Random123 toml++ nlohmann; do
  for place in /usr/local/include /usr/include; do
    [ -d "$place/$folder" ] && { rm -rf "${1:?}/$folder"; cp -rL "$place/$folder" "$1"; break; }
  done
  [ -d "$1/$folder" ] || { echo "headers.sh: $folder is not here; install it first (tools/setup build)" >&2; exit 1; }
done
