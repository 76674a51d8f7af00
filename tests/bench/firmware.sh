#!/bin/bash
# Speed of croft on firmware, compared with qemu-system-riscv64: firmware.sh CROFT MEASURE OUTDIR LOOP-MACHINE
# LOOP-SV39 Runs each of these ROUNDS times (default 3), alternating between the emulators:
# - the compute loop of firmware/paged.c, untranslated and through Sv39: instructions over user + system seconds;
# - OpenSBI and U-Boot to the prompt, where `poweroff` is typed, with 1, 2 and 4 harts: wall time.
# Then, only on croft, --log commit to /dev/null: lines over user + system seconds. OUTDIR receives
# firmware.csv (all runs) and firmware-summary.csv. The status is 1 if a run fails or the outputs of the loop
# differ. A missed bar is only reported, because it depends on the host. Variables: OPENSBI and UBOOT (files
# to use instead of Debian's).
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE OUTDIR LOOP-MACHINE LOOP-SV39" $#
croft=$1 measure=$2 out=$3 machine=$4 sv39=$5
rounds=${ROUNDS:-3}
bios=${OPENSBI:-/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf}
kernel=${UBOOT:-/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin}
logged=30000000 # instructions
check_rounds
need qemu-system-riscv64 qemu-system-misc
for file in "$bios" "$kernel"; do
    if [ ! -r "$file" ]; then
        echo "bench: cannot read $file: install Debian's packages opensbi and u-boot-qemu" >&2
        exit 1
    fi
done
summary=$out/firmware-summary.csv
begin_runs firmware.csv

facts qemu-system-riscv64 "user + system seconds, boots: wall seconds"

# qemu ARGUMENTS...: on qemu's virt board, without firmware.
qemu=(qemu-system-riscv64 -M virt -nographic -m 1G)

# loop NAME ROUND PROGRAM
loop() {
    progress "$1" "$2"
    if ! measured "$1" "$2" croft "$croft" run --stats "$out/$1.json" "$3" </dev/null ||
        ! measured "$1" "$2" qemu "${qemu[@]}" -bios none -kernel "$3" </dev/null; then
        failure
    elif ! diff "$out/$1.croft.out" "$out/$1.qemu.out" >&2; then
        failure "$1 prints something else on croft than on qemu"
    fi
}

# typist OUTPUT: types each answer when the boot's output in OUTPUT asks for it; qemu drops earlier input.
typist() {
    local round asked
    for asked in 'Hit any key' '^=> '; do
        for ((round = 0; round < 1000; round++)); do
            ! grep -q "$asked" "$1" 2>/dev/null || break
            sleep 0.02
        done
        if [ "$asked" = '^=> ' ]; then printf 'version\npoweroff\n'; else echo; fi
    done
}

# An empty line stops the countdown; poweroff ends the run. A boot that does not show the prompt is a failure.
printf '\nversion\npoweroff\n' >"$out/typed"
boot() {
    local name=boot-$1 round=$2 emulator
    progress "$name" "$round"
    rm -f "$out/$name.qemu.out"
    if ! measured "$name" "$round" croft "$croft" run -m virt --set harts="$1" --bios "$bios" --kernel "$kernel" \
        --max-insns 3000000000 --stats "$out/$name.json" <"$out/typed" ||
        ! typist "$out/$name.qemu.out" | measured "$name" "$round" qemu timeout 30 "${qemu[@]}" -smp "$1" \
            -bios "$bios" -kernel "$kernel"; then
        failure
        return
    fi
    for emulator in croft qemu; do
        grep -q '^=> poweroff' "$out/$name.$emulator.out" || failure "$name shows no prompt on $emulator"
    done
}

for ((round = 1; round <= rounds; round++)); do
    loop loop-machine "$round" "$machine"
    loop loop-sv39 "$round" "$sv39"
    for harts in 1 2 4; do
        boot "$harts" "$round"
    done
done

# Counts the lines once; the measured runs write to /dev/null.
log=(run --max-insns "$logged" --stats "$out/log.json")
lines=$({ "$croft" "${log[@]}" --log commit:/dev/fd/3 "$sv39" 3>&1 >/dev/null 2>&1 || true; } | wc -l)
if [ "$lines" -lt "$logged" ]; then
    failure "--log commit wrote $lines lines for $logged instructions"
fi
for ((round = 1; round <= rounds; round++)); do
    progress log "$round"
    allowed=124 measured log "$round" croft "$croft" "${log[@]}" --log commit:/dev/null "$sv39" </dev/null 2>"$out/log.err" ||
        failure "$(cat "$out/log.err")"
done
progress

awk -f "$here/lib.awk" -f "$here/firmware.awk" -v summary="$summary" -v lines="$lines" "$runs"
echo
echo "written: $runs, $summary"
conclude
