#!/bin/bash
# The page of a paper: page.sh CROFT PAPER DIR [SIZE]. Runs the experiments that PAPER/pages names, at a size (if a description has it, otherwise its first),
# and makes DIR/README.md of their pages, DIR/NAME.html with their figures, and DIR/results/NAME.csv. Runs that have ended are kept in DIR, so that it can be stopped and
# started again. Where tables differ from the committed ones of PAPER/results, such as with another size, a note at the top of the page says that its sentences speak
# of those. Pictures that commands of a description's `prepare` leave are put into DIR/pictures. OPTIONS: further ones of croft experiment, such as --engine slurm.
set -euo pipefail

croft=$(realpath "$1")
papers=$(cd "$(dirname "$0")" && pwd)
here=$papers/$2
if [ ! -e "$here/pages" ]; then
    echo "page.sh: no paper '$2'; there are: $(cd "$papers" && echo */pages | sed 's,/pages,,g')" >&2
    exit 2
fi
if [ -n "${4:-}" ] && ! grep -qE "^  $4: *\{\\$" "$papers"/*/*.yaml; then
    echo "page.sh: no paper has size '$4'; there are: small medium full" >&2
    exit 2
fi
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
differ=()
for name in "${names[@]}"; do
    committed=$here/results/$name.csv
    if [ -e "$committed" ] && ! cmp -s "$committed" "$out/results/$name.csv"; then differ+=("$name.csv"); fi
done
if [ ${#differ[@]} -gt 0 ]; then
    note="These tables are not the committed ones (made with ${4:+size $4, }this croft; results that differ: ${differ[*]}). Values in cells and those that texts take from tables are new;"
    note="$note sentences that explain, judge or compare were written about examples/papers/$2/results and may not hold here."
    { sed -n 1p "$out/page.md" && printf '\n> **Note.** %s\n' "$note" && sed 1d "$out/page.md"; } >"$out/noted.md"
    mv "$out/noted.md" "$out/page.md"
    echo "page.sh: $2: results differ from the committed ones, of which the page's sentences speak: ${differ[*]}" >&2
fi
mv "$out/page.md" "$out/README.md"
echo "$out/README.md"
