#!/bin/bash
# Checks the #include lines of each room against README.md's table of rooms: layers.sh [README]. The table's
# columns are the room, its contents, and what it may use: names in backticks (rooms in emu/ without `emu/`,
# folders within a room with the room's name) of rows above, "all above", or "all". Prints FILE:LINE for each
# include that the table does not allow; the status is 1 if there is one. Besides:
# - a folder's state.h is included from that folder alone;
# - the other headers of a folder with a state.h, which is one object, are included from its room alone: what others use
#   lies in the room itself;
# - no folder has more than 20 source files; those named `programs` or `corpus`, which hold tests' inputs, may.
set -euo pipefail

cd "$(dirname "$0")/.."
readme=${1:-README.md}
crowded=$(find . \( -name build -o -name .git -o -name programs -o -name corpus \) -prune -o -name '*.[chS]' -o -name '*.def' | grep '\.' | sed 's,/[^/]*$,,' | sort | uniq -c |
    awk '$1 > 20 { printf "%s: %d source files, more than 20\n", substr($2, 3), $1 }')
find isa emu firmware host -name '*.[chS]' -o -name '*.def' | sort |
    xargs grep -nE '^[[:space:]]*#[[:space:]]*include "' |
    awk -v readme="$readme" '
        # Stores the names in backticks of a cell in names[1..]; returns their number.
        function backticked(cell, names,    count, parts, i) {
            count = split(cell, parts, "`")
            for (i = 2; i <= count; i += 2) {
                sub(/\/$/, "", parts[i])
                names[i / 2] = parts[i]
            }
            return int(count / 2)
        }
        # Returns the room that contains a path (the longest match), or "".
        function room_of(path,    i, best) {
            best = ""
            for (i = 1; i <= rooms; i++)
                if (index(path, room[i] "/") == 1 && length(room[i]) > length(best)) best = room[i]
            return best
        }
        function bad(message) {
            print message
            broken = 1
        }
        function read_table(    line, cells, names, count, i, k, all, table, above) {
            while ((getline line < readme) > 0) {
                if (line ~ /^\| room \|/) {
                    table = 1
                    if (split(line, cells, "|") != 5)
                        return bad(readme ": the table of rooms has no third column, what a room may use")
                }
                if (!table || line !~ /^\| `/) {
                    if (table && line !~ /^\|/) break
                    continue
                }
                split(line, cells, "|")
                if (backticked(cells[2], names) != 1)
                    return bad(readme ": one room in each row: " line)
                room[++rooms] = names[1]
                text[rooms] = cells[4]
            }
            for (i = 1; i <= rooms; i++) {
                count = backticked(text[i], names)
                for (k = 1; k <= count; k++) {
                    if (("emu/" names[k]) == room_of("emu/" names[k] "/")) names[k] = "emu/" names[k]
                    for (above = 1; above < i && room[above] != room_of(names[k] "/"); above++) {}
                    if (above == i)
                        return bad(readme ": " room[i] " may use " names[k] ", which is no room that stands above it")
                    may[i] = may[i] " " names[k]
                }
                all = text[i] ~ /^ *all *$/ ? rooms : text[i] ~ /all above/ ? i - 1 : 0
                for (k = 1; k <= all; k++) may[i] = may[i] " " room[k]
                allowed[room[i]] = may[i]
            }
            if (rooms == 0) return bad(readme ": no table of rooms")
        }
        function fits(path, from,    names, count, i) {
            count = split(allowed[from], names, " ")
            for (i = 1; i <= count; i++)
                if (index(path, names[i] "/") == 1) return 1
            return 0
        }
        function folder_of(path) {
            sub(/\/[^\/]*$/, "", path)
            return path
        }
        function is_object(folder,    state) {
            if (!(folder in object)) {
                state = folder "/state.h"
                object[folder] = (getline < state) > 0
                close(state)
            }
            return object[folder]
        }
        BEGIN { read_table() }
        broken { next } # the input is read to its end all the same
        {
            split($0, place, ":")
            split($0, quoted, "\"")
            if (quoted[2] !~ /\//) quoted[2] = folder_of(place[1]) "/" quoted[2]
            from = room_of(place[1])
            to = room_of(quoted[2])
            read++
            if (quoted[2] ~ /\/state\.h$/ && folder_of(quoted[2]) != folder_of(place[1])) {
                printf "%s:%s: \"%s\" is private to its folder\n", place[1], place[2], quoted[2]
                wrong++
            } else if (from != to && folder_of(quoted[2]) != to && is_object(folder_of(quoted[2]))) {
                printf "%s:%s: \"%s\" is private to %s\n", place[1], place[2], quoted[2], to
                wrong++
            } else if (from == "" || (to != from && !fits(quoted[2], from))) {
                printf "%s:%s: %s may not use \"%s\"%s\n", place[1], place[2], from == "" ? "what is in no room" : from,
                    quoted[2], to == "" ? ", which is in no room" : ""
                wrong++
            }
        }
        END {
            if (broken || read == 0) exit 1
            printf "layers: %d includes, %d not allowed by %s\n", read, wrong, readme
            exit wrong > 0
        }' || crowded+=$'\nlayers: failed'
[ -z "$crowded" ] || { echo "$crowded"; exit 1; }
