#!/bin/bash
# Random programs that mix all five mechanisms, on random machines that have them: stress.sh CROFT WORKDIR WRITERS. WRITERS is the
# folder of `program` and `machine`, which write both. Each run has another machine and other steps; its digests must be those that
# qemu-riscv64 has of the same source, where functions call their networks in software, no check may find anything, and a
# sample of runs, executed again, must have the same statistics. STRESS_RUNS, STRESS_PROGRAMS and STRESS_SEED choose; STRESS_ONLY=N makes
# run N alone, and prints what it says; STRESS_SET is a line for all machines, such as `offload.drop_front: false`, for which there must
# be findings. A machine that croft refuses counts as refused; most may not be. Prints "N passed, N failed".
set -uo pipefail
here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/lib.sh
source "$here/../../lib.sh"

arguments "CROFT WORKDIR WRITERS" $#
croft=$(realpath "$1")
writers=$(realpath "$3")
work=$(fresh "$2")
runs=${STRESS_RUNS:-60} programs=${STRESS_PROGRAMS:-2} seed=${STRESS_SEED:-1}
cd "$work" || exit 1

# compile BY OUTPUT STEPS: with hints of TOM's blocks where that can be (emu/tom/README.md), else with the table alone.
compile() {
    local by=$1 output=$2 steps=$3
    local source=(-O2 -g -w "-DCROFT_APPROX_BY=CROFT_BY_$by" -include "$here/../../axram/approx_networks.h" "-I$here"
        -include "$steps" "$here/frame.c" -lm)
    "$croft" cc "${source[@]}" --offload -o "$output" 2>/dev/null || {
        "$croft" cc "${source[@]}" -o "$output.plain" && "$croft" candidates -m undercroft -o "$output" "$output.plain"
    }
}

# Program `p` executes the runs whose number is `p` modulo `programs`.
prepare() {
    local p=$1
    "$writers/program" $((seed * 1000 + p)) >"steps$p.h"
    compile NETWORK "plain$p" "$PWD/steps$p.h" >messages 2>&1 || return 1
    compile AXRAM "full$p" "$PWD/steps$p.h" >>messages 2>&1 || return 1
    qemu-riscv64 "plain$p" $((seed * 1000000)) "$((runs + 1))" >"expected$p"
}

# once NUMBER STATS
once() {
    local number=$1 program options
    read -r program options < <(sed -n '1s/^# //p' "machine$number.yaml")
    # shellcheck disable=SC2086 # several words
    timeout -s KILL 60 "$croft" run -m "machine$number.yaml" $options --check coherence --check dram --check nucd --max-time 50ms \
        --stats "$2" "$program$((number % programs))" $((seed * 1000000 + number)) >"output$number" 2>"errors$number"
}

# What is wrong with a run of that status; nothing if it is right.
verdict() {
    local number=$1 status=$2
    if [ "$status" = 2 ] && grep -q '^croft run: [a-z0-9_]*[.]yaml:' "errors$number"; then
        echo refused
    elif [ "$status" != 0 ]; then
        echo "status $status: $(head -n 3 "errors$number")"
    elif ! cmp -s <(grep "^$((seed * 1000000 + number)):" "expected$((number % programs))") "output$number"; then
        echo "other digests: $(cat "output$number")"
    elif grep -vE '^croft run: warning: (--check coherence does not watch|idle parts take|the mapping was not learned)' "errors$number" >"found$number"; then
        echo "says: $(head -n 3 "found$number")"
    fi
}

one() {
    local number=$1 status=0 wrong
    {
        "$writers/machine" $((seed * 1000000 + number))
        echo "${STRESS_SET:-}"
    } >"machine$number.yaml"
    once "$number" "stats$number" || status=$?
    wrong=$(verdict "$number" "$status")
    if [ -z "$wrong" ] && [ $((number % 25)) = 0 ]; then
        once "$number" "again$number"
        cmp -s <(without_host "stats$number") <(without_host "again$number") || wrong="other statistics when it is repeated"
    fi
    if [ "$wrong" = refused ]; then
        echo refused
    elif [ -n "$wrong" ]; then
        echo "run $number of seed $seed: $wrong" >"wrong$number"
        echo wrong
        return
    else
        echo right
    fi
    rm -f "machine$number.yaml" {stats,again}"$number"{,.machine.yaml} "output$number" "errors$number" "found$number"
}
export -f once verdict one without_host
export croft writers runs programs seed

for ((p = 0; p < programs; p++)); do
    prepare "$p" || fail "program $p: cannot be compiled" "$(cat messages)"
done
if [ -n "${STRESS_ONLY:-}" ]; then
    one "$STRESS_ONLY"
    cat "wrong$STRESS_ONLY"
    exit
fi
seq "$runs" | xargs -P "${STRESS_JOBS:-1}" -I N bash -c 'one N' >results 2>/dev/null
cat wrong* 2>/dev/null | head -n 100
right=$(grep -c right results) refused=$(grep -c refused results) wrong=$(grep -c wrong results)
echo "$refused machines refused"
add "$right" "$wrong"
check "few machines are refused" test "$refused" -lt $((runs / 5))
check "all runs have ended" test $((right + refused + wrong)) = "$runs"
conclude
