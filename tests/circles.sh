#!/bin/bash
# Finds circles of source files that use each other's symbols: circles.sh OBJECTS LIST (the folder of the object files,
# and the file of known circles). Prints each circle with its arrows and the reason that LIST gives for it. LIST has a
# line for each circle that is left: its files without .c, a colon, the reason. The status is 1 if a circle is not in
# LIST, or if LIST names one that does not exist.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: tests/circles.sh OBJECTS LIST" >&2
    exit 2
fi
cd "$1"
# Objects of files that have gone stay in the folder.
objects=$(find isa emu -name '*.o' | sort | while read -r object; do
    [ ! -e "$OLDPWD/${object%.o}.c" ] || echo "$object"
done)
# shellcheck disable=SC2086
nm -A -P $objects | awk -v list="$OLDPWD/$2" '
    # Tarjan: numbers the files that can be reached from a file, and notes each circle when its first file is left.
    function visit(from,    i, to, top, members) {
        number[from] = low[from] = ++visited
        stack[++height] = from
        waits[from] = 1
        for (i = 1; i <= uses[from]; i++) {
            to = used[from, i]
            if (!(to in number)) {
                visit(to)
                if (low[to] < low[from]) low[from] = low[to]
            } else if ((to in waits) && number[to] < low[from]) {
                low[from] = number[to]
            }
        }
        if (low[from] != number[from]) return
        members = 0
        do {
            top = stack[height--]
            delete waits[top]
            circle[circles + 1, ++members] = top
        } while (top != from)
        if (members > 1) size[++circles] = members
    }
    function sort(c,    i, k, name) {
        for (i = 2; i <= size[c]; i++) {
            name = circle[c, i]
            for (k = i; k > 1 && circle[c, k - 1] > name; k--) circle[c, k] = circle[c, k - 1]
            circle[c, k] = name
        }
    }
    function arrows(c,    i, k, from, to) {
        for (i = 1; i <= size[c]; i++)
            for (k = 1; k <= size[c]; k++) {
                from = circle[c, i]
                to = circle[c, k]
                if ((from, to) in symbols) printf "    %s.c uses %s.c:%s\n", from, to, symbols[from, to]
            }
    }
    BEGIN {
        while ((getline line < list) > 0) {
            if (line ~ /^(#|$)/) continue
            split(line, part, / *: */)
            reason[part[1]] = part[2]
        }
    }
    {
        sub(/\.o:$/, "", $1)
        if (!($1 in known)) {
            known[$1] = 1
            file[++files] = $1
        }
        if ($3 ~ /^[TDBRCVW]$/) home[$2] = $1
        else if ($3 == "U") { asked[++questions] = $1; symbol[questions] = $2 }
    }
    END {
        for (q = 1; q <= questions; q++) {
            from = asked[q]
            if (!(symbol[q] in home) || home[symbol[q]] == from) continue
            to = home[symbol[q]]
            if (!((from, to) in symbols)) {
                used[from, ++uses[from]] = to
                edges++
            }
            symbols[from, to] = symbols[from, to] " " symbol[q]
        }
        for (i = 1; i <= files; i++) if (!(file[i] in number)) visit(file[i])
        for (c = 1; c <= circles; c++) {
            sort(c)
            name = circle[c, 1]
            for (i = 2; i <= size[c]; i++) name = name " " circle[c, i]
            met[name] = 1
            printf "circle of %d files: %s\n", size[c], name
            arrows(c)
            if (name in reason) print "    allowed: " reason[name]
            else { print "    not in " list; wrong++ }
        }
        for (name in reason) if (!(name in met)) { print list ": there is no such circle (any more): " name; wrong++ }
        printf "circles: %d objects, %d arrows, %d circles, %d not allowed\n", files, edges, circles, wrong
        exit wrong > 0
    }'
