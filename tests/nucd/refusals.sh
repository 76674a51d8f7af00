#!/bin/bash
# Why loops do not become tasks: refusals.sh CROFT. Each refusal says what would have to be known or changed; loops changed so become tasks.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
source=$here/programs/refusals.c
scratch
cd "$work" || exit 1

evidence() {
    grep -E "^${name:-}:" told
}

# tell OPTIONS...: compiles the program with them; told: for each loop, its function and what becomes of it.
tell() {
    "$croft" cc -w -fno-strict-aliasing -O2 "$@" -foffload-loops -foffload-report=report "$source" -o refusals -lm >messages 2>&1
    judge $? "compiled: $*"
    awk -F : '
        NR == FNR { if (/^SEPARATE/) { name = $0; sub(/\(.*/, "", name); sub(/.* \**/, "", name) } at[FNR] = name; next }
        $1 ~ /refusals[.]c$/ { text = $0; sub(/^[^:]*:[0-9]*: /, "", text); print at[$2] ":" text }' "$source" report >told
}

tell
while IFS='|' read -r name reason needed; do
    check "leave_$name" grep -qE "^leave_$name:loop does not become tasks: $reason [(].*refusals[.]c:[0-9]+[)]; needed: $needed" told
    [ "$name" = square_root ] || check "take_$name" grep -q "^take_$name:loop becomes tasks" told
done <<'END'
float_sum|register fa[0-7] carries a value from round to round|sums of rounds that are apart.*-ffast-math does not
integer_sum|register a[0-7] carries a value from round to round|sums of rounds that are apart.*registers do not come back
recurrence|register fa[0-7] carries a value from round to round|its value in any round without those before it
step|register [ast][0-9] carries a value from round to round|its step as a number
scattered|the address of its store is not known: it depends on what the loop loads|an index that is no data: a sum of counters
unnamed|the address of its load is not known: it depends on what the loop loads|an index that is no data; or the array by its name
earlier|register fa[0-7] carries a value from round to round|its value in any round.*loaded from what no round stores
same_place|all rounds store to the same place|a place for each round
search|it does not end in a branch that is its only exit: it has 2 exits|one exit
call|it calls a function|the function's code in the loop
square_root|it accesses a CSR|code that leaves exception flags and errno alone .*-fno-math-errno
volatile|it accesses a volatile object|plain loads and stores
statement|it has an assembler statement|C in place of the statement
limit|its number of rounds is not known when it begins[^(]*|a number of rounds that registers tell before it
rows|rounds access what other rounds store: each 1024 bytes, 512 bytes from the last|stores of a round that no other round accesses
END
name=
check "each refusal says what is needed" test "$(grep -c 'does not become tasks' report)" -eq "$(grep -c 'does not become tasks.*; needed: ' report)"

# The compiler may take a square root for one instruction if errno does not matter; -ffast-math says so, but does not divide sums.
for option in -fno-math-errno -ffast-math; do
    tell "$option"
    name=leave_square_root
    check "$option: a square root" grep -q '^leave_square_root:loop becomes tasks' told
    name=leave_float_sum
    check "$option: a sum" grep -q '^leave_float_sum:loop does not become tasks: register fa' told
done

# Linked programs, too.
"$croft" candidates --for nucd --all refusals >output 2>messages
judge $? "candidates"
check "candidates: what is needed" grep -qE ' leave_integer_sum +no: register a[0-7] carries .*; needed: sums of rounds' output
"$croft" candidates --for nucd --all --json refusals >output 2>messages
check "candidates: in JSON" jq -e '.loops[] | select(.function == "leave_integer_sum") | .needed | startswith("sums of rounds")' output
check "candidates: nothing of what is taken" jq -e '[.loops[] | select(.possible and has("needed"))] == []' output
conclude
