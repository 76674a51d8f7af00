#!/bin/bash
# Runs a program on the shipped machines with two of their keys at limits: keys.sh CROFT WORKDIR [RUNS]. croft must refuse the
# values with a message, or the program must end as elsewhere, or with a message: no assertion, no crash, no hang (LIMIT seconds,
# default 600). FUZZ_SEED chooses other pairs. Prints "N passed, N failed".
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
source "$here/../lib.sh"

croft=$(realpath "$1")
work=$(fresh "$2")
runs=${3:-20000}
cd "$work" || exit 1

"$croft" cc -O2 "$here/programs/mixed.c" -o mixed || exit 1
qemu-riscv64 mixed >expected
for machine in $("$croft" machines | cut -d ' ' -f 1); do
    "$croft" show "$machine" | awk -v machine="$machine" -f "$here/keys.awk" | sed "s/^/$machine\t/"
done >keys

# Pairs of settings on one machine: MACHINE KEY=VALUE KEY=VALUE.
awk -F '\t' -v runs="$runs" -v seed="${FUZZ_SEED:-1}" '
    { line[NR] = $0; first[$1] = first[$1] ? first[$1] : NR; last[$1] = NR }
    function setting(number,    part, count) {
        count = split(line[number], part, "\t")
        return part[2] "=" part[3 + int(rand() * (count - 2))]
    }
    END {
        srand(seed)
        for (i = 0; i < runs; i++) {
            one = 1 + int(rand() * NR)
            split(line[one], part, "\t")
            other = first[part[1]] + int(rand() * (last[part[1]] - first[part[1]] + 1))
            print part[1], setting(one), setting(other)
        }
    }' keys >pairs

# judge STATUS OUTPUT ERRORS: what is wrong with a run; nothing if it is right.
verdict() {
    if grep -qE 'Assertion|Sanitizer|runtime error|stack smashing' "$3"; then
        grep -m 1 -E 'Assertion|Sanitizer|runtime error|stack smashing' "$3"
    elif [ "$1" = 137 ]; then
        echo "it does not end"
    elif [ "$1" = 0 ]; then
        cmp -s "$2" expected || echo "its output is wrong: $(head -c 100 "$2")"
    elif ! grep -q '^croft' "$3"; then
        echo "status $1 without a message"
    fi
}

# one NUMBER MACHINE SETTING SETTING
one() {
    local status=0 wrong
    (
        ulimit -v 8000000
        timeout -s KILL "${LIMIT:-600}" "$croft" run -m "$2" --set "$3" --set "$4" --max-time 20ms mixed
    ) >"output.$1" 2>"errors.$1" </dev/null || status=$?
    wrong=$(verdict "$status" "output.$1" "errors.$1")
    if [ -n "$wrong" ]; then
        echo "-m $2 --set $3 --set $4: $wrong" >"wrong.$1"
    fi
    rm -f "output.$1" "errors.$1"
    echo ended
}
export -f one verdict
export croft

# shellcheck disable=SC2016 # the inner shell expands its arguments
ended=$(awk '{ print NR, $0 }' pairs | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' _ 2>/dev/null | wc -l)
cat wrong.* 2>/dev/null
failures=$(find . -name 'wrong.*' | wc -l)
echo "$((ended - failures)) passed, $failures failed"
[ "$failures" -eq 0 ] && [ "$ended" -gt 0 ]
