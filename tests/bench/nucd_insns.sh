#!/bin/bash
# Instructions and calls of the kernels' regions of interest, compared with the NUCD paper's Table II:
# nucd_insns.sh CROFT KERNELS OUT. Prints a table and writes OUT/insns.csv. Our counts include the host's
# share (packing operands).
set -euo pipefail

croft=$1 kernels=$2 out=$3
mkdir -p "$out"

# Prints the region's statistic of that name in a statistics file.
figure() {
    awk -v region="\"$2\":" -v name="\"$3\":" \
        '$1 == "\"regions\":" { regions = 1 } regions && $1 == region { inside = 1 }
         inside && $1 == name { gsub(/[^0-9]/, "", $2); print $2; exit }' "$1"
}

# kernel, instructions and calls of its region of interest in Table II
table='meabo2 73100 1
meabo5 89102 1
ebox 392701 1
stride 40129 8
spatter 83450 1
spmv 277650 1'

echo "kernel,calls,instructions_1_task,instructions_16_tasks,paper_calls,paper_instructions,ratio" >"$out/insns.csv"
printf '%-10s %6s %12s %12s %12s %12s %8s\n' kernel calls "1 task" "16 tasks" "paper calls" "paper" "ratio"
while read -r kernel paper calls; do
    for tasks in 1 16; do
        "$croft" run --stats "$out/$kernel.$tasks.json" "$kernels/$kernel" "$tasks" >"$out/$kernel.$tasks.out"
    done
    one=$(figure "$out/$kernel.1.json" "$kernel" hart.0.instructions)
    sixteen=$(figure "$out/$kernel.16.json" "$kernel" hart.0.instructions)
    ours=$(figure "$out/$kernel.1.json" "$kernel" entries)
    ratio=$(awk -v a="$one" -v b="$paper" 'BEGIN { printf "%.2f", a / b }')
    printf '%-10s %6d %12d %12d %12d %12d %8s\n' "$kernel" "$ours" "$one" "$sixteen" "$calls" "$paper" "$ratio"
    echo "$kernel,$ours,$one,$sixteen,$calls,$paper,$ratio" >>"$out/insns.csv"
done <<<"$table"
echo "ratio: ours with one task over the paper's (Armv8); table in $out/insns.csv"
