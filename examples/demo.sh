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

# run_both NAME ARGS...: runs an example on both, keeps the outputs, and fails if they differ.
failures=0
run_both() {
    local name=$1 croft_status=0 qemu_status=0
    shift
    "$croft" run --stats "$results/$name.json" "./$name" "$@" >"$results/$name.croft" || croft_status=$?
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

say "hello"
run_both hello Undercroft
say "nucd_vector: y = 2x in 16 offloaded tasks"
run_both nucd_vector
say "spmv: sparse matrix times vector, offloaded by nucd, from a Matrix Market file"
run_both spmv circuit.mtx
# The file's numbers in order: first those of the whole run, then those of its only region.
mapfile -t instructions < <(
    awk '/"hart.0.instructions": [0-9]/ { gsub(/[^0-9]/, "", $2); print $2 }' "$results/spmv.json")
printf '      instructions    %s, of which %s in the region of interest\n' "${instructions[0]:-unknown}" \
    "${instructions[1]:-unknown}"

if [ "$failures" -ne 0 ]; then
    printf 'Demo: %d of 3 programs FAILED.\n' "$failures"
    exit 1
fi
printf 'Demo: 3 programs ran on croft with the results of qemu-riscv64. Statistics: %s/*.json\n' "$results"
