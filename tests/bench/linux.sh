#!/bin/bash
# Wall time of a boot of Linux to the power-off by its init, on croft and on qemu-system-riscv64 with 1, 2 and 4
# harts: linux.sh CROFT MEASURE OUTDIR IMAGE INITRD. README.md ("Linux") shows how to build both files. Each boot
# runs ROUNDS times (default 3), alternating between the emulators; DISK (a file, default: 4 MiB of zeros) is
# copied for each run. OUTDIR receives linux.csv (all runs) and linux-summary.csv. The status is 1 if a boot
# fails, or if init prints something else on croft than on QEMU. A missed bar is only reported, because it
# depends on the host. Variables: OPENSBI (to use instead of Debian's), APPEND (more of the kernel's command line),
# JIT (on or off; default on).
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

if [ $# -ne 5 ] || [ -z "$4" ] || [ -z "$5" ]; then
    echo "usage: make bench-linux IMAGE=FILE INITRD=FILE; README.md shows how to build them" >&2
    exit 2
fi
croft=$1 measure=$2 out=$3 image=$4 initrd=$5
rounds=${ROUNDS:-3}
bios=${OPENSBI:-/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf}
check_rounds
need qemu-system-riscv64 qemu-system-misc
for file in "$bios" "$image" "$initrd" ${DISK:+"$DISK"}; do
    if [ ! -r "$file" ]; then
        echo "bench: cannot read $file" >&2
        exit 1
    fi
done
summary=$out/linux-summary.csv
disk=$out/disk
append="console=ttyS0 quiet ${APPEND:-}"
begin_runs linux.csv

facts qemu-system-riscv64 "wall seconds"

fresh_disk() {
    if [ -n "${DISK:-}" ]; then cp "$DISK" "$disk"; else rm -f "$disk" && truncate -s 4M "$disk"; fi
}

# said EMULATOR: what init printed in the last run there.
said() {
    tr -d '\r' <"$out/$name.$1.out" | grep '^init:' || true
}

for ((round = 1; round <= rounds; round++)); do
    for harts in 1 2 4; do
        name=linux-$harts
        progress "$name" "$round"
        fresh_disk
        measured "$name" "$round" croft "$croft" run --jit="${JIT:-on}" -m virt --set "harts=$harts" --set "memory.size=1 GiB" \
            --stats "$out/$name.json" --bios "$bios" --kernel "$image" --initrd "$initrd" --append "$append" \
            --drive "file=$disk" </dev/null || failure
        fresh_disk
        measured "$name" "$round" qemu qemu-system-riscv64 -M virt -nographic -m 1G -smp "$harts" -bios "$bios" \
            -kernel "$image" -initrd "$initrd" -append "$append" -global virtio-mmio.force-legacy=false \
            -drive "file=$disk,format=raw,if=none,id=disk" -device virtio-blk-device,drive=disk </dev/null || failure
        [ "$(said croft)" = "$(said qemu)" ] || failure "$name: init prints something else on croft than on qemu"
    done
done
progress

awk -v summary="$summary" -f "$here/lib.awk" -f "$here/linux.awk" "$runs"
conclude
