#!/bin/bash
# The demonstration of `make demo`: builds what is missing, runs the examples on croft and on qemu-riscv64,
# and compares their outputs. Called by make with MAKE, BUILD and SETUP set.
set -euo pipefail
cd "$(dirname "$0")/.."

examples=$BUILD/examples
results=$BUILD/demo
steps=7
step=0

say() {
    step=$((step + 1))
    printf '[%d/%d] %s\n' "$step" "$steps" "$1"
}

# Builds targets, with all cores unless MAKEFLAGS sets the number of jobs.
build() {
    local jobs=(-j"$(nproc)")
    case " ${MAKEFLAGS:-} " in
    *" -j"* | *--jobserver*) jobs=() ;;
    esac
    "$MAKE" --no-print-directory -s "${jobs[@]}" BUILD="$BUILD" SETUP="$SETUP" "$@"
}

# run_both MACHINE NAME ARGS...: runs an example on both, keeps the outputs, and fails if they differ.
failures=0
run_both() {
    local machine=$1 name=$2 croft_status=0 qemu_status=0
    shift 2
    "$croft" run -m "$machine" --stats "$results/$name.json" "./$name" "$@" >"$results/$name.croft" || croft_status=$?
    qemu-riscv64 "./$name" "$@" >"$results/$name.qemu" || qemu_status=$?
    sed 's/^/      /' "$results/$name.croft"
    if [ "$croft_status" -ne 0 ]; then
        printf '      FAILED: exit status %d on croft\n' "$croft_status"
    elif [ "$croft_status" -ne "$qemu_status" ]; then
        printf '      FAILED: exit status %d on croft, %d on qemu-riscv64\n' "$croft_status" "$qemu_status"
    elif ! cmp -s "$results/$name.croft" "$results/$name.qemu"; then
        printf '      FAILED: the output differs from that on qemu-riscv64:\n'
        diff "$results/$name.croft" "$results/$name.qemu" | sed 's/^/      /' || true
    else
        printf '      same output and exit status on qemu-riscv64\n'
        return 0
    fi
    failures=$((failures + 1))
}

say "Packages"
build "$BUILD/setup-build.stamp"
say "C library of the emulated programs: newlib, start-up code, calls"
build sysroot
say "Emulator: $BUILD/bin/croft"
build all
say "Examples: cross-compiled by croft cc; matrix generated"
build examples

mkdir -p "$results"
results=$(cd "$results" && pwd)
croft=$(cd "$BUILD/bin" && pwd)/croft
cd "$examples" # croft lets a program open files in the current folder only

# offloaded NAME: prints how many tasks the example offloaded, and what the host executed: the file's first number is that of the whole run,
# its second that of the only region of interest.
offloaded() {
    local tasks instructions
    tasks=$(awk '/"nucd.offloads": [0-9]/ { gsub(/[^0-9]/, "", $2); print $2; exit }' "$results/$1.json")
    mapfile -t instructions < <(awk '/"host.0.instructions": [0-9]/ { gsub(/[^0-9]/, "", $2); print $2 }' "$results/$1.json")
    printf '      offloaded       %s tasks; the host executed %s instructions%s\n' "${tasks:-0}" "${instructions[0]:-unknown}" \
        "${instructions[1]:+, of which ${instructions[1]} in the region of interest}"
    if [ "${tasks:-0}" -eq 0 ]; then
        printf '      FAILED: nothing was offloaded\n'
        failures=$((failures + 1))
    fi
}

say "hello, on machine functional"
run_both functional hello Undercroft
say "nucd_vector: y = 2x in 16 offloaded tasks, on machine nucd"
run_both nucd nucd_vector
offloaded nucd_vector
say "spmv: sparse matrix times vector, offloaded by nucd, from a Matrix Market file, on machine nucd"
run_both nucd spmv circuit.mtx
offloaded spmv

if [ "$failures" -ne 0 ]; then
    printf 'Demo: %d of 3 programs FAILED.\n' "$failures"
    exit 1
fi
printf 'Demo: 3 programs ran on croft with the results of qemu-riscv64. Statistics: %s/*.json\n' "$results"
