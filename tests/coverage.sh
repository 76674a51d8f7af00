#!/bin/bash
# Which lines the unit tests execute, by room: coverage.sh BUILD [PROGRAM...]. BUILD was compiled with --coverage; its unit tests, and
# croft on the programs, are run here. Prints a table, and writes a page for each file to BUILD/lines/index.html.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(realpath "$1")
shift
programs=("$@")

find "$build" -name '*.gcda' -delete
# A test that fails counts as well: its lines were executed.
find "$build/tests" -name 'test_*' -type f -perm -u+x | sort | xargs -P "$(nproc)" -I{} sh -c '{} >/dev/null 2>&1 || echo "fails: {}"'
for program in "${programs[@]}"; do
    for machine in functional nucd gpu; do "$build/bin/croft" run -m $machine "$program" >/dev/null 2>&1 || true; done
done
# Debian 12's lcov warns of its own functions.
quiet() { "$@" 2> >(grep -v ' redefined at ' >&2); }
quiet lcov --quiet --capture --directory "$build/obj" --base-directory . --no-external --output-file "$build/all.info" --rc lcov_branch_coverage=1
quiet lcov --quiet --extract "$build/all.info" "$PWD/emu/*" "$PWD/isa/*" --output-file "$build/lines.info" --rc lcov_branch_coverage=1
genhtml --quiet --branch-coverage --prefix "$PWD" --output-directory "$build/lines" "$build/lines.info"
awk -F: -v top="$PWD/" '
    $1 == "SF" {
        room = substr($2, length(top) + 1)
        if (split(room, part, "/") > 2 && part[1] == "emu") room = "emu/" part[2]
        else room = part[1]
    }
    $1 == "LF" { lines[room] += $2; all += $2 }
    $1 == "LH" { hit[room] += $2; all_hit += $2 }
    $1 == "BRF" { branches[room] += $2 }
    $1 == "BRH" { taken[room] += $2 }
    END {
        for (room in lines)
            printf "%-16s %6d of %6d lines, %5.1f %%; branches %5.1f %%\n", room, hit[room], lines[room], 100 * hit[room] / lines[room],
                branches[room] ? 100 * taken[room] / branches[room] : 100 | "sort"
        close("sort")
        printf "%-16s %6d of %6d lines, %5.1f %%\n", "all", all_hit, all, 100 * all_hit / all
    }' "$build/lines.info"
