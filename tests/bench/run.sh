#!/bin/bash
# Speed of croft beside qemu-riscv64: run.sh CROFT MEASURE OUTDIR TRIVIAL PROGRAM...
# Runs every program on both in turn, ROUNDS times (default 3), and compares what they print. A program's speed is
# its retired instructions (croft --stats) over the median of user + system seconds, so that other work on the
# machine disturbs it little. Then the start-up of TRIVIAL on croft: median wall time and peak memory of 20 runs.
# OUTDIR receives runs.csv (each run) and summary.csv (the table). The status is 1 if any output differs or any
# run fails; missing a bar is reported only, since it depends on the machine.
set -euo pipefail

if [ $# -lt 5 ]; then
    echo "usage: tests/bench/run.sh CROFT MEASURE OUTDIR TRIVIAL PROGRAM..." >&2
    exit 2
fi
croft=$1 measure=$2 out=$3 trivial=$4
shift 4
rounds=${ROUNDS:-3}
starts=20
case $rounds in
'' | *[!0-9]* | 0*)
    echo "bench: ROUNDS must be a number from 1, not '$rounds'" >&2
    exit 2
    ;;
esac
if ! command -v qemu-riscv64 >/dev/null; then
    echo "bench: qemu-riscv64 is missing: install Debian's package qemu-user" >&2
    exit 1
fi
mkdir -p "$out"
runs=$out/runs.csv
summary=$out/summary.csv
echo "program,round,emulator,wall_s,user_s,system_s,peak_kib,instructions" >"$runs"

fact() {
    printf '%-16s %s\n' "$1" "$2"
}

# The croft statistics' total of retired instructions.
instructions_of() {
    awk '/"total"/ { total = 1 } total && /"hart.0.instructions"/ { gsub(/[^0-9]/, "", $2); print $2; exit }' "$1"
}

# One measured run: measured PROGRAM-NAME ROUND EMULATOR COMMAND...
measured() {
    local name=$1 round=$2 emulator=$3 line count=""
    shift 3
    line=$("$measure" "$out/$name.$emulator.out" "$@")
    read -r wall user system peak status <<<"$line"
    if [ "$status" -ne 0 ]; then
        echo "bench: $name ended with status $status on $emulator" >&2
        return 1
    fi
    if [ "$emulator" = croft ]; then
        count=$(instructions_of "$out/$name.json")
        if [ -z "$count" ]; then
            echo "bench: no instruction count in $out/$name.json" >&2
            return 1
        fi
    fi
    echo "$name,$round,$emulator,$wall,$user,$system,$peak,$count" >>"$runs"
}

fact processor "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1) ($(nproc) online)"
fact compiler "$("${CC:-cc}" --version | head -n 1)"
fact "cross compiler" "$(riscv64-unknown-elf-gcc --version | head -n 1)"
fact croft "$("$croft" version | head -n 1)"
fact qemu "$(qemu-riscv64 --version | head -n 1)"
fact rounds "$rounds, in turn; medians of user + system seconds"
echo

failures=0
for program in "$@"; do
    name=${program##*/}
    for ((round = 1; round <= rounds; round++)); do
        [ ! -t 2 ] || printf '\r%-40s' "$name, round $round of $rounds" >&2
        if ! measured "$name" "$round" croft "$croft" run --stats "$out/$name.json" "$program" ||
            ! measured "$name" "$round" qemu qemu-riscv64 "$program"; then
            failures=$((failures + 1))
            break
        fi
        if ! cmp -s "$out/$name.croft.out" "$out/$name.qemu.out"; then
            echo "bench: $name prints something else on croft than on qemu:" >&2
            diff "$out/$name.croft.out" "$out/$name.qemu.out" >&2 || true
            failures=$((failures + 1))
            break
        fi
    done
done
for ((round = 1; round <= starts; round++)); do
    measured start-up "$round" croft "$croft" run --stats "$out/start-up.json" "$trivial" || failures=$((failures + 1))
done
[ ! -t 2 ] || printf '\r%-40s\r' '' >&2

awk -f "$(dirname "$0")/report.awk" -v summary="$summary" "$runs"
echo
echo "written: $runs, $summary"
if [ "$failures" -gt 0 ]; then
    echo "bench: $failures runs failed or differed" >&2
    exit 1
fi
