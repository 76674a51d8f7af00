#!/bin/bash
# --check nucd on whole programs, in every environment and mode that offloads: check.sh CROFT. Prints "N
# passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
here=$(dirname "$0")
scratch

# expect NAME STATUS: the exit status is STATUS, and the messages contain each line of standard input.
expect() {
    local name=$1 wanted=$2 line missing=""
    while IFS= read -r line; do
        grep -qF -- "$line" "$work/messages" || missing+=$line$'\n'
    done
    if [ "$status" -eq "$wanted" ] && [ -z "$missing" ]; then
        pass
    else
        fail "$name: status $status, expected $wanted; not said: $missing" "$(cat "$work/messages")"
    fi
}

run() {
    status=0
    "$croft" run -m nucd --check nucd --stats "$work/stats.json" "$@" >"$work/out" 2>"$work/messages" </dev/null || status=$?
    cat "$work/out" >>"$work/messages"
    grep -so '"nucd.check.*[0-9],$' "$work/stats.json" >>"$work/messages" || true
}

# Mode ideal leaves old copies by design, which the check of coherence would report: the pair is refused, with key and place.
refusal='nucd.mode: ideal cleans caches in no time, and leaves old copies of lines that are on their way; leave --check coherence out, or set nucd.mode: nucd'
printf 'extends: nucd\nnucd: {mode: ideal}\n' >"$work/ideal.yaml"
"$croft" cc -O1 "$here/../../examples/cells.c" -o "$work/cells"
for way in "--set nucd.mode=ideal" "--env kernel --set nucd.mode=ideal" "-m $work/ideal.yaml"; do
    read -ra options <<<"$way"
    run "${options[@]}" --check coherence "$work/cells"
    expect "ideal is not coherent, $way" 1 <<<"$refusal"
done
expect "ideal is not coherent, place" 1 <<<"ideal.yaml:2: $refusal"

"$croft" cc -std=gnu17 -O1 -g "$here/programs/undeclared.c" -o "$work/undeclared"

for way in "user nucd" "user ideal" "kernel nucd" "kernel ideal" "kernel driver"; do
    read -r env mode <<<"$way"
    # 4 tasks of 256 numbers; per number a load, a store, and a store and possibly loads of the stack and
    # constants.
    run --env "$env" --set nucd.mode="$mode" "$work/undeclared"
    expect "right, $way" 0 <<<$'2044\n"nucd.check.tasks": 4,\n"nucd.check.violations": 0,\n"nucd.check.unknown": 0,'
    # Per task: 128 loads beyond the input's first half, a load and a store of the counter, a store to the
    # input.
    run --env "$env" --set nucd.mode="$mode" "$work/undeclared" wrong
    expect "wrong, $way" 3 <<<'1022
"nucd.check.violations": 524,
524 accesses of tasks that their nucds do not name, by 4 instructions
: 512 loads
: 4 loads
: 4 stores
undeclared.c:24), after
undeclared.c:25), after
undeclared.c:26), after
in the task of the nucd at
by accel.
name the memory in an output range of the nucd
the task may only read this
name the memory in an input range of the nucd'
    if [ "$(grep -c 'which the task' "$work/messages")" -ne 4 ]; then
        fail "wrong, $way: each place is not reported once"
    fi
done

# Code that the host executes is not checked, and a machine without accelerators has nothing to check.
run --env kernel --set nucd.mode=none "$work/undeclared" wrong
expect "mode none" 0 <<<$'1022\n"nucd.check.accesses": 0,'
run --set accel.count=0 "$work/undeclared"
expect "no accelerators" 1 <<<'has no accelerators that take tasks'

conclude
