#!/bin/bash
# Changes tables and rules at random places, one change at a time, and runs the unit tests that should notice:
# mutate.sh BUILD [COUNT [SEED [PATTERN]]], of the files of tests/mutate.txt that match the pattern (a regular expression). Prints each
# change that no test notices ("survives"), with what the line was and became, then totals by file. Changes that give the same
# machine code are not counted. What is allocated and released is not changed: that is for sanitized tests to notice. Needs
# `make unit-tests`. The status is 0, whatever survives: reasons for survivors that change nothing are in tests/mutate.reasons, a
# line each: FILE, a tab, the changed line ("; for LINE": it is left out), a tab, the reason.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=${1:-build} count=${2:-200} seed=${3:-1} pattern=${4:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CC=${CC:-gcc}
flags=(-std=c17 -D_GNU_SOURCE -O1 -w -ffp-contract=off)
read -ra libraries < <(echo -lcmocka -lunicorn "$(pkg-config --libs yaml-0.1 libelf libdw jansson sqlite3 libmd libzstd fann)" -lfdt -lm)

# places FILE: the changes that can be made: line, column, length, new text, separated by tabs.
places() {
    awk '
        function offer(at, length_of, text) {
            if (text != substr($0, at, length_of)) printf "%d\t%d\t%d\t%s\n", FNR, at, length_of, text
        }
        # Blanks comments and strings.
        function code(line,    out, i, c) {
            out = ""
            for (i = 1; i <= length(line); i++) {
                c = substr(line, i, 1)
                if (comment) {
                    if (substr(line, i, 2) == "*/") { comment = 0; out = out " "; i++ }
                    c = " "
                } else if (string) {
                    if (c == "\\") { out = out " "; i++ }
                    else if (c == "\"") string = 0
                    c = " "
                } else if (c == "\"") {
                    string = 1
                    c = " "
                } else if (substr(line, i, 2) == "/*") {
                    comment = 1
                    out = out " "
                    i++
                    c = " "
                }
                out = out c
            }
            string = 0
            return out
        }
        pass == 1 {
            line = code($0)
            while (match(line, /[A-Z][A-Z0-9_]+/)) {
                word = substr(line, RSTART, RLENGTH)
                family = word
                if (!sub(/_[^_]*$/, "_", family)) family = "-"
                if (!(word in known)) { known[word] = family; names[family, ++size[family]] = word; place[word] = size[family] }
                line = substr(line, RSTART + RLENGTH)
            }
            next
        }
        {
            if (FNR == 1) comment = string = 0
            text = code($0)
            if (text ~ /^ *#|static_assert|assert\(|^STATE|^RULE|[^_a-z]alloc(_resize)?\(/) next
            rest = text
            offset = 0
            while (match(rest, /==|!=|<=|>=|&&|\|\||->|<<|>>|\+\+|--|[+*\/|&-]=|[<>] | [+-] |[A-Za-z_][A-Za-z0-9_]*|[0-9]+[uU]?|![a-z(]/)) {
                at = offset + RSTART
                token = substr(rest, RSTART, RLENGTH)
                if (token == "==") offer(at, 2, "!=")
                else if (token == "!=") offer(at, 2, "==")
                else if (token == "<=") offer(at, 2, "<")
                else if (token == ">=") offer(at, 2, ">")
                else if (token == "< ") offer(at, 1, "<=")
                else if (token == "> ") offer(at, 1, ">=")
                else if (token == "&&") offer(at, 2, "||")
                else if (token == "||") offer(at, 2, "&&")
                else if (token == "+=") offer(at, 2, "-=")
                else if (token == "|=") offer(at, 2, "&=")
                else if (token == " + ") offer(at + 1, 1, "-")
                else if (token == " - ") offer(at + 1, 1, "+")
                else if (token == "true") offer(at, 4, "false")
                else if (token == "false") offer(at, 5, "true")
                else if (token ~ /^![a-z(]/) { offer(at, 1, " "); RLENGTH = 1 }
                else if (token ~ /^[0-9]+$/) offer(at, RLENGTH, token + 1)
                else if ((token in known) && !(substr(text, at + RLENGTH, 1) == "(")) {
                    family = known[token]
                    if (size[family] > 1) offer(at, RLENGTH, names[family, place[token] % size[family] + 1])
                }
                offset += RSTART + RLENGTH - 1
                rest = substr(rest, RSTART + RLENGTH)
            }
            if (text ~ /^ +[a-z_][a-zA-Z0-9_.>\[\]-]*( [-+|&]?= .*|\(.*\)|\+\+|--); *$/ && text !~ /^ +(return|[a-z_]*(free|close)\(|struct|enum|const|uint|bool|double|size_t|unsigned|int|case|goto)/) {
                match(text, /^ +/)
                offer(RLENGTH + 1, length(text) - RLENGTH, ";")
            }
        }' pass=1 "$1" pass=2 "$1"
}

# compiled SOURCE OVERLAY OBJECT: compiles with files of the overlay in place of the tree's.
compiled() {
    local source=$1
    if [ -e "$2/$1" ]; then source=$2/$1; fi
    "$CC" "${flags[@]}" -I"$2" -I. -I"$build/gen" -I"$build/include" -c "$source" -o "$3" 2>/dev/null
}

# notices OBJECT TEST...: prints the first test that fails with the object.
notices() {
    local object=$1 test
    shift
    for test; do
        "$CC" "$build/obj/tests/$test.o" "$object" "$build/tests/libtest.a" "$build/obj/libcroft.a" "${libraries[@]}" -o "$work/test" 2>/dev/null || continue
        if ! { (cd "$work" && ulimit -v 8000000 && timeout "${LIMIT:-120}" ./test >/dev/null 2>&1); } 2>/dev/null; then
            echo "$test"
            return
        fi
    done
}

: >"$work/all"
while read -r file source tests; do
    if [[ $file == \#* || -z $file || ! $file =~ $pattern ]]; then continue; fi
    mkdir -p "$work/none" "$work/$source.d"
    compiled "$source" "$work/none" "$work/$source.d/original.o" || { echo "mutate: $source does not compile" >&2; exit 1; }
    # A change must be noticed because of the change: the tests pass without one.
    failing=$(notices "$work/$source.d/original.o" "${tests%% *}")
    if [ -n "$failing" ]; then echo "mutate: $failing fails without a change" >&2; exit 1; fi
    places "$file" | sed "s|^|$file\t$source\t$tests\t|" >>"$work/all"
done <tests/mutate.txt
cut -f 1,2 tests/mutate.reasons >"$work/reasons"
total=0
# The same seed gives the same changes.
while IFS=$'\t' read -r file source tests line column length text; do
    if [ "$total" -ge "$count" ]; then break; fi
    overlay=$work/overlay
    rm -rf "$overlay"
    mkdir -p "$overlay/$(dirname "$file")"
    awk -v line="$line" -v column="$column" -v length_of="$length" -v text="$text" '
        NR == line { $0 = substr($0, 1, column - 1) text substr($0, column + length_of) } { print }' "$file" >"$overlay/$file"
    compiled "$source" "$overlay" "$work/changed.o" || continue
    if cmp -s "$work/changed.o" "$work/$source.d/original.o"; then continue; fi
    total=$((total + 1))
    # shellcheck disable=SC2086 # tests are words
    killer=$(notices "$work/changed.o" $tests)
    became=$(sed -n "${line}p" "$overlay/$file" | sed 's/^ *//')
    was=$(sed -n "${line}p" "$file" | sed 's/^ *//')
    if [ "$became" = ";" ]; then became="; for $was"; fi
    if [ -n "$killer" ]; then
        echo "$file killed" >>"$work/verdicts"
    elif grep -qxF -- "$file"$'\t'"$became" "$work/reasons"; then
        echo "$file explained" >>"$work/verdicts"
    else
        echo "$file survives" >>"$work/verdicts"
        printf '%s:%s: survives\n    was    %s\n    became %s\n' "$file" "$line" "$was" "$became"
    fi
done < <(sort -R --random-source=<(yes "$seed") "$work/all")
sort "$work/verdicts" | uniq -c | awk '{ n[$2, $3] = $1; files[$2] = 1; sum[$3] += $1; all += $1 }
    END {
        for (file in files) printf "%-36s %4d changes, %4d noticed, %3d explained, %3d survive\n", file, n[file, "killed"] + n[file, "explained"] + n[file, "survives"],
            n[file, "killed"], n[file, "explained"], n[file, "survives"] | "sort"
        close("sort")
        printf "%-36s %4d changes, %4d noticed, %3d explained, %3d survive\n", "all", all, sum["killed"], sum["explained"], sum["survives"]
    }'
