#!/bin/bash
# Networks beside BookSim 2: net.sh CROFT DIR [BOOKSIM]. Runs every row of tests/bench/net_reference.txt with
# `croft net` and prints its latencies, saturation and accepted rate beside the reference's; * marks a figure
# outside of the bounds: latency 3 % up to 80 % of saturation, saturation 0.012, accepted rate 3 %. BOOKSIM is a
# binary of BookSim 2: packets of 1 and 5 flits run on it, too. The status is 1 if a figure is outside.
set -euo pipefail

croft=$1 dir=$2 booksim=${3:-}
here=$(dirname "$0")
mkdir -p "$dir"
description=$here/../../examples/net/booksim.yaml
outside=0

# Prints "ours/reference" and marks it; the figures, then the bound as a share of the reference or as a difference.
beside() {
    awk -v ours="$1" -v reference="$2" -v share="$3" -v difference="$4" 'BEGIN {
        bound = share ? share * reference : difference
        off = ours - reference
        printf " %s/%s%s", ours, reference, bound && (off > bound || off < -bound) ? "*" : ""
    }'
}

# row NAME OPTIONS POINTS SATURATION ACCEPTED CAUSE; POINTS are RATE:LATENCY.
row() {
    local name=$1 options=$2 points=$3 saturation=$4 accepted=$5 cause=$6 rates="" point line
    for point in $points; do rates+="${point%:*} "; done
    # shellcheck disable=SC2086
    "$croft" net "$description" $options --set "traffic.rates=$rates" > "$dir/out" || exit 1
    line=$(printf '%-28s' "$name")
    for point in $points; do
        local rate=${point%:*} latency bound
        latency=$(awk -v rate="$rate" '$1 + 0 == rate + 0 { print $4 == "unstable" ? "inf" : $4 }' "$dir/out")
        bound=$(awk -v rate="$rate" -v saturation="$saturation" \
            'BEGIN { print saturation == "-" || rate <= 0.8 * saturation ? 0.03 : 0 }')
        line+=" $rate:$(beside "${latency:-inf}" "${point#*:}" "$bound" 0)"
    done
    [ "$saturation" = - ] ||
        line+="  saturation$(beside "$(awk '/^saturation/ { print $2 + 0 }' "$dir/out")" "$saturation" 0 0.012)"
    line+="  accepted$(beside "$(awk '/^saturation/ { print $NF }' "$dir/out")" "$accepted" 0.03 0)"
    printf '%s\n' "$line"
    case $line in
    *\**) if [ -n "$cause" ]; then echo "  * $cause"; else outside=$((outside + 1)); fi ;;
    esac
}

echo "ours/reference (BookSim 2); rates in flits per clock and node, latencies in clocks"
while IFS='|' read -r name options points saturation accepted cause; do
    case $name in '' | '#'*) continue ;; esac
    # shellcheck disable=SC2086
    row "${name% }" "$options" "$points" $saturation $accepted "${cause# }"
done < "$here/net_reference.txt"

# The latency of BookSim 2 at a rate for packets of that many flits.
booksim_latency() {
    "$booksim" "$here/net_booksim.cfg" packet_size="$1" injection_rate="$2" 2> /dev/null |
        awk '/Packet latency average/ { latency = $5 } END { print latency }'
}

if [ -n "$booksim" ]; then
    echo "ours/BookSim 2, run beside it"
    for flits in 1 5; do
        "$croft" net "$description" --set "traffic.flits=$flits" --set traffic.saturation=false \
            --set "traffic.rates=0.05:0.4:0.05" > "$dir/out"
        line=$(printf '%-28s' "8x8 mesh, 4 VC, $flits flits")
        for rate in 0.05 0.10 0.15 0.20 0.25 0.30 0.35 0.40; do
            bound=$(awk -v rate="$rate" 'BEGIN { print rate <= 0.33 ? 0.03 : 0 }')
            line+=" $rate:$(beside "$(awk -v rate="$rate" '$1 + 0 == rate + 0 { print $4 }' "$dir/out")" \
                "$(booksim_latency $flits $rate)" "$bound" 0)"
        done
        printf '%s\n' "$line"
        case $line in *\**) outside=$((outside + 1)) ;; esac
    done
fi
# Flit-hops per CPU second at full load, which should not depend on the size.
echo "flit-hops per CPU second at 1 flit per clock and node"
TIMEFORMAT=%U
for size in 4x4:400000 8x8:100000 16x16:25000 32x32:6000; do
    seconds=$({ time "$croft" net "$description" --set network.size="${size%:*}" --set traffic.rates=1 --csv - \
        --set traffic.saturation=false --set traffic.warmup=0 --set traffic.measure="${size#*:}" > "$dir/out"; } 2>&1)
    awk -F, -v size="${size%:*}" -v seconds="$seconds" \
        'NR == 2 { printf "  %-6s %5.1f million\n", size, $12 / seconds / 1e6 }' "$dir/out"
done
echo "$outside rows with figures outside of the bounds"
[ "$outside" = 0 ]
