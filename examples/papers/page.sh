#!/bin/bash
# The page of a paper: page.sh CROFT PAPER DIR [SIZE]. Runs the experiments that PAPER/pages names, at a size (if a description has it, otherwise its first),
# and makes DIR/README.md of their pages, DIR/NAME.html with their figures, and DIR/results/NAME.csv. Runs that have ended are kept in DIR, so that it can be stopped and
# started again. Pictures that commands of a description's `prepare` leave are put into DIR/pictures. OPTIONS: further ones of croft experiment, such as --engine slurm.
set -euo pipefail

croft=$(realpath "$1")
here=$(cd "$(dirname "$0")/$2" && pwd)
mkdir -p "$3/results"
out=$(realpath "$3")
mapfile -t names <"$here/pages"
: >"$out/page.md"
for name in "${names[@]}"; do
    size=()
    if [ -n "${4:-}" ] && grep -qE "^  $4: *\{" "$here/$name.yaml"; then size=(--size "$4"); fi
    mkdir -p "$out/$name"
    # shellcheck disable=SC2086 # options are words
    "$croft" experiment "$here/$name.yaml" "${size[@]}" ${OPTIONS:-} --results "$out/results.db" --out "$out/$name" >/dev/null
    "$croft" report "$out/$name" -o "$out/$name.html"
    cp "$out/$name/results.csv" "$out/results/$name.csv"
    for picture in "$out/$name"/prepared/*/*.svg; do
        program=$(basename "$(dirname "$picture")")
        if [ -e "$picture" ]; then mkdir -p "$out/pictures" && cp "$picture" "$out/pictures/$program.svg"; fi
    done
    cat "$out/$name/page.md" >>"$out/page.md"
done
mv "$out/page.md" "$out/README.md"
echo "$out/README.md"
