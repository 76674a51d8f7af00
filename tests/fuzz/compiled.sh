#!/bin/bash
# Runs the files that the fuzzer of the loader has found as programs, interpreted, compiled, and with each region beside steps: compiled.sh
# CROFT WORKDIR [FOLDER...]. Output, messages, status and statistics must be the same, and nothing may crash; CROFT may be built with sanitizers. Prints
# "N passed, N failed".
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
source "$here/../lib.sh"

croft=$(realpath "$1")
work=$(fresh "$2")
shift 2
[ $# -gt 0 ] || set -- "$here/corpus/elf"

# run WAY FILE: what it prints, and its statistics, go to files of that name.
run() {
    local status=0
    (cd "$work" && exec timeout -s KILL 60 "$croft" run --jit="$1" --max-insns 100000 --stats "$1.json" "$2") \
        >"$work/$1.output" 2>"$work/$1.errors" </dev/null || status=$?
    echo "status $status" >>"$work/$1.output"
    if [ -e "$work/$1.json" ]; then without_host "$work/$1.json" >"$work/$1.stats"; else : >"$work/$1.stats"; fi
    rm -f "$work/$1.json"
}

# ends WAY: without a crash; where a signal may have ended croft, it has said that the program died.
ends() {
    ! grep -hE 'Sanitizer|runtime error|Assertion' "$work/$1.errors" &&
        { ! grep -qE '^status (12[89]|1[3-9].)' "$work/$1.output" || grep -q '^croft' "$work/$1.errors"; }
}

# same WAY: as interpreted.
same() {
    local kind
    for kind in output errors stats; do cmp "$work/off.$kind" "$work/$1.$kind" || return 1; done
    ends "$1"
}

evidence() {
    head -n 5 "$work"/*.errors
}

executed=0
for folder; do
    for file in "$folder"/*; do
        file=$(realpath "$file")
        run off "$file"
        [ ! -s "$work/off.stats" ] || executed=$((executed + 1))
        for way in always check; do
            run "$way" "$file"
            check "$(basename "$file"), --jit=$way" same "$way"
        done
    done
done
echo "$executed files were executed"
check "files are executed" [ "$executed" -gt 0 ]
conclude
