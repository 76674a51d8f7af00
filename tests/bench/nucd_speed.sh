#!/bin/bash
# Speed of a machine with 16 busy accelerators: nucd_speed.sh CROFT MEASURE FIRMWARE OUTDIR PROGRAM... Each
# PROGRAM (tests/bench/firmware/busy.c) keeps the accelerators of machine nucd busy while its host sleeps.
# Prints the instructions of all harts over user + system seconds of the host: the median of ROUNDS (default
# 3) alternating runs. The bar is 3 million per second. OUTDIR receives nucd-speed.csv. The status is 1 if a
# run fails; a missed bar is only reported.
set -euo pipefail
here=$(dirname "$0")
# shellcheck source=tests/bench/lib.sh
source "$here/lib.sh"

arguments "CROFT MEASURE FIRMWARE OUTDIR PROGRAM..." $#
croft=$1 measure=$2 firmware=$3 out=$4
shift 4
rounds=${ROUNDS:-3}
check_rounds
mkdir -p "$out"
runs=$out/nucd-speed.csv
echo "program,round,instructions,user_s,system_s,simulated_ms" >"$runs"

# total NAME-PATTERN FILE: prints the sum of the run's counters whose names match.
total() {
    awk -v pattern="\"$1\"" '/"total"/ { total = 1 } total && $1 ~ pattern { gsub(/[^0-9]/, "", $2); sum += $2 }
        END { printf "%.0f\n", sum }' "$2"
}

for ((round = 1; round <= rounds; round++)); do
    for program in "$@"; do
        name=$(basename "$program")
        line=$("$measure" "$out/$name.out" "$croft" run -m nucd --firmware "$firmware" --stats "$out/$name.json" "$program")
        read -r _ user system _ status <<<"$line"
        if [ "$status" -ne 0 ]; then
            echo "bench: $name ended with status $status" >&2
            exit 1
        fi
        fs=$(total 'sim[.]time' "$out/$name.json")
        echo "$name,$round,$(total 'hart[.][0-9]+[.]instructions' "$out/$name.json"),$user,$system,$((fs / 1000000000000)).$(printf %03d $((fs / 1000000000 % 1000)))" >>"$runs"
    done
done

awk -F, '
    NR > 1 {
        if (!($1 in count)) order[++programs] = $1
        rate[$1, ++count[$1]] = $3 / ($4 + $5) / 1e6
        instructions[$1] = $3
        simulated[$1] = $6
    }
    END {
        printf "%-24s %14s %14s %10s\n", "program", "instructions", "simulated ms", "million/s"
        for (p = 1; p <= programs; p++) {
            name = order[p]
            n = count[name]
            for (i = 1; i <= n; i++)
                for (k = i + 1; k <= n; k++)
                    if (rate[name, k] < rate[name, i]) {
                        swap = rate[name, i]; rate[name, i] = rate[name, k]; rate[name, k] = swap
                    }
            median = n % 2 ? rate[name, (n + 1) / 2] : (rate[name, n / 2] + rate[name, n / 2 + 1]) / 2
            printf "%-24s %14.0f %14.3f %10.1f%s\n", name, instructions[name], simulated[name], median,
                median < 3 ? "  below the bar, 3" : ""
        }
    }' "$runs"
