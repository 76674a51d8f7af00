#!/usr/bin/env bash
# Latencies of the idle machines stash_micro and stash_apps, by a pointer chase from every node to every bank: latency.sh CROFT OUTDIR.
# Prints the least and the greatest beside the Stash paper's (Table 2), in cycles of the CPU and clocks of the network.
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
out=$(fresh "$2")
"$croft" cc -O2 "$here/latency.c" -o "$out/latency"

# CPU cycles that the measured extremes may differ from the paper's. A multiprocessor's clock is 2.86 of them, and loads overlap
# with its pipeline: its hits are subtracted, which take 1 cycle in the paper.
cores_by=3
multiprocessors_by=12

# limits KIND FIRST LAST: prints the least and the greatest clocks of rows of these nodes.
limits() {
    awk -v kind="$1" -v first="$2" -v last="$3" '
        $1 == kind && $2 >= first && $2 <= last { if (least == "" || $NF < least) least = $NF; if ($NF > most) most = $NF }
        END { print least + 0, most + 0 }' "$out/rows"
}

# near VALUE WANTED BY
near() {
    awk -v value="$1" -v wanted="$2" -v by="$3" 'BEGIN { exit !(value - wanted <= by && wanted - value <= by) }'
}

evidence() {
    head -n 5 "$out/errors"
}

# compare MACHINE NODES KIND PAPER_LEAST PAPER_MOST FIRST LAST CYCLES HIT BY: CYCLES is CPU cycles of a node's clock, HIT the clocks of its hits.
compare() {
    local least most
    read -r least most < <(limits "$3" "$6" "$7")
    least=$(bc -l <<<"scale = 1; ($least - $9 + 1) * $8 / 1")
    most=$(bc -l <<<"scale = 1; ($most - $9 + 1) * $8 / 1")
    printf '%-12s %-16s %-7s %6s to %6s cycles (%s to %s clocks of the network); the paper: %s to %s\n' "$1" "$2" "$3" \
        "$least" "$most" "$(bc <<<"$least * 3 / 2")" "$(bc <<<"$most * 3 / 2")" "$4" "$5"
    check "$1, $2, $3: least" near "$least" "$4" "${10}"
    check "$1, $2, $3: most" near "$most" "$5" "${10}"
}

# hits MACHINE: prints the clocks of a multiprocessor's hits in its first-level cache and in local memory, from the description.
hits() {
    "$croft" show "$1" | awk '/^simt:/ { inside = 1 }
        inside && /^  [a-z]/ { section = $1 }
        inside && section == "latency:" && $1 == "load:" { load = $2 }
        inside && section == "latency:" && $1 == "shared:" { shared = $2 }
        inside && section == "l1:" && $1 == "hit_clocks:" { print load + $2, shared; exit }'
}

while read -r machine hosts; do
    read -r l1_hit local_hit < <(hits "$machine")
    check "$machine: hits of L1 and stash take the same (Table 2)" [ "$l1_hit" = "$local_hit" ]
    status=0
    timeout 300 "$croft" run -m "$machine" --set dram.refresh=none "$out/latency" "$hosts" >"$out/rows" 2>"$out/errors" || status=$?
    check "$machine runs" [ "$status" = 0 ]
    check "$machine: a row for each node and bank" [ "$(grep -c '^l2 ' "$out/rows")" = 256 ]
    read -r least most < <(limits l1 0 $((hosts - 1)))
    check "$machine: a hit takes a cycle" [ "$least $most" = "1 1" ]
    hit=$(awk '$1 == "l1" && $2 == 15 { print $3 }' "$out/rows")
    for kind in "l2 29 61" "memory 197 261"; do
        # shellcheck disable=SC2086
        compare "$machine" cores $kind 0 $((hosts - 1)) 1 1 $cores_by
        # shellcheck disable=SC2086
        compare "$machine" multiprocessors $kind "$hosts" 15 2.857 "$hit" $multiprocessors_by
    done
done <<'END'
stash_micro 15
stash_apps 1
END
conclude
