#!/usr/bin/env bash
# Makes the library by which programs of Linux have <croft/axram_memory.h>: axram_library.sh FILE.a. Variables: CROFT (the command), CROSS
# (prefix of the compiler's name).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
CROFT=${CROFT:-$root/build/bin/croft}
CROSS=${CROSS:-riscv64-linux-gnu-}
if [ $# -ne 1 ]; then
    echo "usage: host/linux/axram_library.sh FILE.a" >&2
    exit 2
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for source in axram/memory axram/copy linux/chips; do
    "$CROFT" cc --linux -O2 -Wall -Wextra -fPIC -I"$root" -c "$root/host/$source.c" -o "$folder/$(basename $source).o"
done
rm -f "$1"
"${CROSS}ar" rcsD "$1" "$folder"/{memory,copy,chips}.o
