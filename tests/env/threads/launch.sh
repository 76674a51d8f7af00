#!/usr/bin/env bash
# Threads on several hosts that launch kernels and wait: output and exit status of qemu-riscv64 on machines with and without a clock, in
# both environments; repeated runs; messages. Variables: CROFT (the command), OUT (a folder for products); ALL=1: every number of hosts.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/launch-hosts}
OUT=$(fresh "$OUT")
guest=$OUT/guest_launch

evidence() {
    cat "$OUT/errors"
}

# run OPTIONS... PROGRAM ARGUMENTS...: sets $status.
run() {
    status=0
    timeout 300 "$CROFT" run "$@" >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
}

same() {
    [ "$status" = "$wanted" ] && cmp -s "$OUT/output" "$OUT/wanted"
}

says() {
    grep -qF -- "$1" "$OUT/errors"
}

# counted NAME: prints a statistic at the end of the run.
counted() {
    sed -n "s/^ *\"$1\": \([0-9]*\),*$/\1/p" "$OUT/stats.json" | head -n 1
}

"$CROFT" cc -O2 -g "$here/guest_launch.c" -o "$guest"

numbers="1 2 4 15"
rounds=2
[ -z "${ALL:-}" ] || numbers=$(seq 1 17)
[ -z "${ALL:-}" ] || rounds=6
gpu=(-m gpu --set simt.count=2)
while read -r what threads; do
    oracle "$OUT/wanted" "$guest" "$what" "$threads" "$rounds"
    for hosts in $numbers; do
        for core in inorder ooo; do
            for env in user kernel; do
                run "${gpu[@]}" --env $env --set host.core=$core --set host.count="$hosts" "$guest" "$what" "$threads" "$rounds"
                check "$what, $threads threads, $hosts $core hosts, $env" same
                check "nothing to say" [ "$hosts" = 1 -o ! -s "$OUT/errors" ]
            done
        done
    done
    for harts in 4 15; do
        run --env kernel -m virt --set harts=$harts --set simt.count=2 "$guest" "$what" "$threads" "$rounds"
        check "$what, $threads threads, $harts harts without a clock" same
        run --env kernel -m virt --set harts=$harts "$guest" "$what" "$threads" "$rounds"
        check "$what, $threads threads, $harts harts, without multiprocessors" same
    done
    run -m ddr3 --set host.count=4 "$guest" "$what" "$threads" "$rounds"
    check "$what, $threads threads, 4 hosts, without multiprocessors" same
done <<'END'
work 15
leave 15
others 3
flood 15
END

for env in user kernel; do
    on=("${gpu[@]}" --env "$env" --set host.count=3)
    oracle "$OUT/wanted" "$guest" exit
    run "${on[@]}" "$guest" exit
    check "exit in a thread, $env" same
    oracle "$OUT/wanted" "$guest" sleep
    run "${on[@]}" "$guest" sleep
    check "sleep beside calls, $env" same
    run "${on[@]}" "$guest" crash
    check "a kernel's fault, $env: status" [ "$status" = 139 ]
    check "names host and launch" says 'in thread (40, 0, 0) of block (0, 0, 0) of launch 1 of host 1, lane 8 of warp 1'
    check "and the place" says 'store+0x'
    run "${on[@]}" "$guest" trap
    check "a thread's fault, $env: status" [ "$status" = 139 ]
    check "names the host" says 'in the thread on host 1'
    check "its stack is not the first thread's" [ "$(grep -c 'sp is below' "$OUT/errors")" = 0 ]
    run "${on[@]}" "$guest" stuck
    check "threads that wait for ever, $env: status" [ "$status" = 1 ]
    run "${on[@]}" --max-time 700us "$guest" work 15
    check "the end of time, $env: status" [ "$status" = 124 ]
    check "who waits" grep -qE 'the thread on host [0-9]+ waits in simt_wait\(' "$OUT/errors"
    run "${on[@]}" --stats "$OUT/stats.json" "$guest" work 15
    cp "$OUT/stats.json" "$OUT/first.json"
    check "threads ran on the last host" [ "$(counted host.2.cycles)" -gt 1000 ]
    run "${on[@]}" --stats "$OUT/stats.json" "$guest" work 15
    check "a second run, $env" cmp <(without_host "$OUT/first.json") <(without_host "$OUT/stats.json")
done
run "${gpu[@]}" --set host.count=3 "$guest" stuck
check "the word that nobody changes" says 'on host 0: for the word at 0x'
run --env kernel -m virt --set harts=3 --set simt.count=2 --max-insns 500000 "$guest" work 15
check "a limit of instructions without a clock" [ "$status" = 124 ]
conclude
