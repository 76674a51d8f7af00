#!/bin/bash
# The NUPIM paper's figures 5, 10 and 11: figures.sh CROFT DIR. DIR gets by benchmark a
# heat map of stalls (NAME.stalls.svg, figure 5), the sharing of pages by launch and by kernel (NAME.pages.txt, NAME.kernels.txt,
# figure 10), and a map of the pages of each block in the launch with most instructions (NAME.pages.svg, figure 11).
# Figures 4, 6, 7, 12 and 13: examples/papers/nupim.
set -euo pipefail

croft=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
while read -r name size; do
    program=$2/$name
    "$croft" cc -O2 -fno-math-errno "$here/../workloads/$name.c" -lm -o "$program"
    "$croft" run -m nupim --detail roi --stats "$2/$name.json" --trace "memory:$2/$name.trace" "$program" "$size" >"$2/$name.output"
    awk -f "$here/heatmap.awk" -v title="$name" "$2/$name.json" >"$2/$name.stalls.svg" 2>"$2/$name.stalls.txt"
    "$croft" pages "$2/$name.trace" >"$2/$name.pages.txt"
    "$croft" pages --program "$program" "$2/$name.trace" >"$2/$name.kernels.txt"
    launch=$(awk 'NR > 1 && $1 != "all" && $4 > most { most = $4; launch = $1 } END { print launch }' "$2/$name.pages.txt")
    "$croft" pages --map "$2/$name.pages.svg" --launch "$launch" "$2/$name.trace" >/dev/null
    rm "$2/$name.trace"
    echo "$name, figure 10: $(tail -n 1 "$2/$name.pages.txt" | awk '{ print "PS_avg", $5 ", PS_max", $6 }')"
done <<<"bfs 32768
cfd 12288"
