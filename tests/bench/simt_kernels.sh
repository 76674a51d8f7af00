#!/bin/bash
# Speed of kernels of the examples without a clock: simt_kernels.sh CROFT MEASURE OUTDIR EXAMPLES. Thread instructions over user +
# system seconds of the whole run, of which the host's part is interpreted or compiled, on one multiprocessor, best of ROUNDS.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE OUTDIR EXAMPLES" $#
croft=$1 measure=$2 out=$3 examples=$4
rounds=${ROUNDS:-3}
check_rounds
mkdir -p "$out"

# example PROGRAM ARGUMENTS...: prints its speed.
example() {
    local name=${1##*/} best="" round line user system status
    for ((round = 1; round <= rounds; round++)); do
        line=$("$measure" "$out/$name.out" "$croft" run --set simt.count=1 --stats "$out/$name.json" "$examples/$1" "${@:2}")
        read -r _ user system _ status <<<"$line"
        [ "$status" -eq 0 ] || failure "$name ends with $status"
        best=$(awk -v a="$user" -v b="$system" -v best="$best" 'BEGIN { t = a + b; print (best == "" || t < best + 0) ? t : best }')
    done
    awk -v name="$name" -v seconds="$best" '/"total"/ { total = 1 }
        total && /"simt.thread_instructions"/ { gsub(/[^0-9]/, "", $2); count = $2; exit }
        END { printf "%-17s %8.1f M instructions of threads in %6.3f s: %7.0f M/s\n", name, count / 1e6, seconds, count / seconds / 1e6 }' \
        "$out/$name.json"
}

example simt/walsh 20
example simt/backprop 65536
example simt/libor 20000
example simt/scalar_product 4096
example simt/sgemm 256
example simt/stencil 96
example simt/needleman_wunsch 1024
example workloads/btree 40000 4096 2048
example workloads/kmeans 16384
example workloads/lulesh 12
example workloads/ray 256
example workloads/srad 256 256
conclude
