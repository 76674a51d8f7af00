#!/bin/bash
# Plots an experiment's results.csv with gnuplot: plot.sh bars|lines CSV COLUMN ACROSS SVG TITLE. The points
# of axis ACROSS become series. `bars` groups the other axes along x, programs first; `lines` uses the last of
# the other axes as x. Reference values are drawn as marks.
set -euo pipefail

kind=$1 csv=$2 column=$3 across=$4 svg=$5 title=$6
if ! command -v gnuplot >/dev/null; then
    echo "plot: no picture $svg: gnuplot is missing (Debian: apt-get install gnuplot-nox)" >&2
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One block of lines per series: x, value or NaN, reference or NaN, label. The first AXES columns are the
# axes.
awk -F, -v column="$column" -v across="$across" -v axes="${AXES:-3}" -v kind="$kind" -v work="$work" '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at[column] == "" { next }
    {
        series = $at[across]; label = ""; last = ""
        for (i = 1; i <= axes; i++)
            if (i != at[across]) { label = label (label == "" ? "" : " ") $i; last = $i }
        if (kind == "lines") { series = $1 " " series; sub(" *" last "$", "", label) }
        else if (!(label in place)) { place[label] = ++places; text[places] = label }
        if (!(series in number)) { number[series] = ++count; name[count] = series }
        value[number[series], kind == "lines" ? last : place[label]] = $at[column]
        if ((column ".reference") in at) reference[number[series], kind == "lines" ? last : place[label]] = $at[column ".reference"]
        if (kind == "lines" && !(last in seen)) { seen[last]; text[++places] = last }
    }
    END {
        for (s = 1; s <= count; s++) {
            file = work "/" s
            for (p = 1; p <= places; p++) {
                key = kind == "lines" ? text[p] : p
                v = value[s, key]; r = reference[s, key]
                printf "%s %s %s \"%s\"\n", key, v == "" ? "NaN" : v, r == "" ? "NaN" : r, text[p] >file
            }
            printf "%d\t%s\n", s, name[s] >(work "/series")
        }
        for (p = 1; p <= places; p++)
            printf "%s\"%s\" %d", (p > 1 ? ", " : ""), text[p], p >(work "/labels")
        print count, places >(work "/size")
    }' "$csv"
read -r count places <"$work/size"

{
    echo "set terminal svg size $((260 + places * 40)),420 font 'sans,11' background 'white'"
    printf 'set output "%s"\nset title "%s"\nset key outside top center horizontal\nset grid y\n' "$svg" "$title"
    if [ "$kind" = lines ]; then
        echo "set terminal svg size 720,440 font 'sans,11' background 'white'"
        printf 'set logscale x 2\nset logscale y 2\nset xlabel "%s"\nset ylabel "%s"\nplot ' "accelerators" "$column"
        awk -F'\t' -v work="$work" '{
            printf "%s\"%s/%d\" using 1:2 with linespoints pt %d lc %d title \"%s\"", (NR > 1 ? ", " : ""), work, $1, $1, $1, $2
            printf ", \"%s/%d\" using 1:3 with points pt 2 ps 1.5 lw 2 lc %d notitle", work, $1, $1
        } END { print ", NaN with points pt 2 lc black title \"the paper states\"" }' "$work/series"
    else
        echo "set boxwidth $(awk -v n="$count" 'BEGIN { print 0.8 / n }')"
        printf 'set style fill solid 0.8 border -1\nset ylabel "%s"\nset xrange [0.4:%s.6]\nset yrange [0:*]\nset xtics rotate by -45 nomirror (%s)\nplot ' \
            "$column" "$places" "$(cat "$work/labels")"
        awk -F'\t' -v work="$work" -v n="$count" '{
            shift = ($1 - (n + 1) / 2) * 0.8 / n
            printf "%s\"%s/%d\" using ($1+%f):2 with boxes lc %d title \"%s\"", (NR > 1 ? ", " : ""), work, $1, shift, $1, $2
            printf ", \"%s/%d\" using ($1+%f):3 with points pt 2 ps 1.2 lw 2 lc black notitle", work, $1, shift
        } END { print ", NaN with points pt 2 lc black title \"the paper states\"" }' "$work/series"
    fi
} >"$work/script"
gnuplot "$work/script"
