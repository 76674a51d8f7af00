#!/bin/bash
# The page of a paper: page.sh CROFT PAPER DIR [SIZE]. Runs the experiments that PAPER/pages names, at a size (if a description has it, otherwise its first),
# and makes DIR/README.md of their pages, DIR/NAME.html with their figures, DIR/index.html with all of these, and DIR/results/NAME.csv. Runs that have ended are kept in DIR, so that it can be stopped and
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

# Copies text as HTML.
escaped() {
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
}

# title NAME: the title of a description.
title() {
    sed -n 's/^title: *//p' "$here/$1.yaml" | sed 's/^"\(.*\)"$/\1/' | escaped
}

{
    printf '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>%s</title>\n' "$(title "${names[0]}")"
    printf '<style>body { font: 16px sans-serif; margin: 2em } iframe { width: 100%%; height: 90vh; border: 1px solid #999 }</style></head>\n'
    printf '<body><h1>%s</h1>\n<p>Each experiment has its tables and figures, with the values of the paper beside ours. <a href="#tables">Tables and texts</a> of all are at the end.</p>\n<ul>\n' \
        "$(title "${names[0]}")"
    for name in "${names[@]}"; do printf '<li><a href="#%s">%s</a></li>\n' "$name" "$(title "$name")"; done
    printf '</ul>\n'
    for name in "${names[@]}"; do
        printf '<h2 id="%s"><a href="%s.html">%s</a></h2>\n<iframe src="%s.html" title="%s" loading="lazy"></iframe>\n' \
            "$name" "$name" "$(title "$name")" "$name" "$(title "$name")"
    done
    printf '<h2 id="tables">Tables and texts</h2>\n<pre>'
    escaped <"$out/README.md"
    printf '</pre></body></html>\n'
} >"$out/index.html"
printf '%s\n' "$out/README.md" "$out/index.html"
