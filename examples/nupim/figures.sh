#!/bin/bash
# The NUPIM paper's figures: figures.sh CROFT DIR. DIR gets tables.txt (figures 4, 6, 7, 12, 13: figures.yaml), and by benchmark a
# heat map of stalls (NAME.stalls.svg, figure 5), the sharing of pages by launch and by kernel (NAME.pages.txt, NAME.kernels.txt,
# figure 10), and a map of the pages of each block in the launch with most instructions (NAME.pages.svg, figure 11). Benchmarks are the lines of figures.yaml.
set -euo pipefail

croft=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
"$croft" experiment "$here/figures.yaml" --yes --out "$2" --files >/dev/null
cat "$2/tables.txt"
while read -r name size; do
    program=$2/programs/$name
    [ -e "$program" ] || program=$(find "$2/programs" -name "$name*" -type f | head -n 1)
    "$croft" run -m nupim --detail roi --stats "$2/$name.json" --trace "memory:$2/$name.trace" "$program" "$size" >"$2/$name.output"
    awk -f "$here/heatmap.awk" -v title="$name" "$2/$name.json" >"$2/$name.stalls.svg" 2>"$2/$name.stalls.txt"
    "$croft" pages "$2/$name.trace" >"$2/$name.pages.txt"
    "$croft" pages --program "$program" "$2/$name.trace" >"$2/$name.kernels.txt"
    launch=$(awk 'NR > 1 && $1 != "all" && $4 > most { most = $4; launch = $1 } END { print launch }' "$2/$name.pages.txt")
    "$croft" pages --map "$2/$name.pages.svg" --launch "$launch" "$2/$name.trace" >/dev/null
    rm "$2/$name.trace"
    echo "$name, figure 10: $(tail -n 1 "$2/$name.pages.txt" | awk '{ print "PS_avg", $5 ", PS_max", $6 }')"
done < <(sed -n 's|^  \([a-z0-9_]*\): {source: .*arguments: \[\([0-9]*\)\]}|\1 \2|p' "$here/figures.yaml")
