#!/bin/bash
# The ten workloads of the TOM paper on its machines: tom.sh CROFT DIR FOLDER (of the compiled examples). Prints for each run
# the time of the kernels, millions of thread-instructions, thread-instructions a clock relative to the baseline (figure 8), the
# use of the busiest transmit and receive channel in percent of 80 GB/s, the bytes on all links relative to the baseline's
# (figure 9), the part of them between stacks, the part of the instructions that stacks execute, and energy relative to the
# baseline's, with the parts of multiprocessors and of links (figure 10). The paper's workloads use
# more than half of the memory's bandwidth: a workload whose busiest channel of the baseline is used less is marked, and so are
# runs whose map was not learned: their data stay with the host. Where a map is learned, a last column has the share of the time
# that this takes, the blocks seen to their end and those cut short, and the blocks seen beyond the paper's 0.1 % of all. Learning
# ends with 0.1 %, or after LEARN_LIMIT (default 10us; 0fs: none, as for maps), and LEARN_PENDING blocks (default 64) are executed at a time
# until then. Programs have the table of `croft candidates`. Results are
# checked against scalar code. SET chooses the machines: figure8 (default); figure2, without costs of offloading, with any number of blocks in a stack and with
# the 48 that it has warps for, and the bounds by issue slots; figure3, fixed
# maps; maps, what blocks access (figure 5) and how well maps put it together (figure 6); figure11, more warps in stacks (and
# figure 12, their bytes); cross, the bandwidth between stacks; internal, that of a stack's vaults (figure 13); links, channels of
# 40 GB/s; coherence, without what it costs; alu, the control by instructions for each access (offload.alu_ratio).
# CONFIGURATIONS, lines of LABEL MACHINE [OPTION...], replaces them; the first is the baseline. WORKING chooses workloads; JOBS
# is the number of runs at a time (default 2).
set -euo pipefail

# The machines of a set.
machines() {
    local tmap="--set offload.map=tmap --set offload.learn_limit=${LEARN_LIMIT:-10us} --set offload.learn_pending=${LEARN_PENDING:-64}"
    local links="--set link.request_bandwidth=40GB/s --set link.response_bandwidth=40GB/s" half="" n
    case $1 in
        figure8)
            echo "base tom_base"
            echo "no_ctrl tom --set offload.policy=no_ctrl"
            echo "no_ctrl_tmap tom --set offload.policy=no_ctrl $tmap"
            echo "ctrl tom"
            echo "ctrl_tmap tom $tmap"
            ;;
        figure2)
            echo "base tom_base"
            echo "ideal tom --set offload.policy=ideal"
            echo "ideal48 tom --set offload.policy=ideal --set offload.pending=48"
            ;;
        maps)
            echo "seen tom --set offload.policy=none --set offload.map_output=/dev/null"
            for n in 1 5 10; do echo "learn$n tom $tmap --set offload.learn_limit=0fs"; done
            ;;
        coherence)
            echo "base tom_base"
            echo "ctrl_tmap tom $tmap"
            echo "free_tmap tom $tmap --set offload.push=false --set offload.drop_near=false --set offload.drop_front=false"
            ;;
        figure3)
            echo "bmap tom"
            for n in {7..16}; do echo "bits$n tom --set offload.map=fixed --set offload.map_bit=$n"; done
            ;;
        figure11)
            echo "base tom_base"
            for n in 1 2 4; do
                echo "warps$n tom $tmap --set stack.simt.warps=$((48 * n)) --set stack.simt.blocks=$((48 * n)) \
--set stack.simt.threads=$((1536 * n)) --set stack.simt.registers=$((32768 * n))"
            done
            ;;
        cross)
            echo "base tom_base"
            for n in 10 20 40 80; do
                echo "cross$n tom $tmap --set peer.request_bandwidth=${n}GB/s --set peer.response_bandwidth=${n}GB/s"
            done
            ;;
        internal)
            # Half the TSVs: 64 B take 12.8 ns, 80 GB/s for a stack of 16 vaults.
            for n in tBURST tCCDS tCCDL; do half+=" --set stack.dram.$n=12.8ns"; done
            echo "base tom_base"
            echo "base_inner1 tom_base $half"
            echo "inner1 tom $tmap $half"
            echo "inner2 tom $tmap"
            ;;
        links)
            echo "base40 tom_base $links"
            echo "ctrl40_tmap tom $tmap $links"
            ;;
        alu)
            echo "base tom_base"
            echo "ctrl tom"
            for n in 1 2 3; do echo "alu$n tom --set offload.alu_ratio=$n"; done
            ;;
        *)
            echo "$0: SET is figure8, figure2, figure3, maps, figure11, cross, internal, links, coherence or alu, not $1" >&2
            return 2
            ;;
    esac
}
# instances NAME: blocks of a workload whose condition holds, as offload.map.instances of a run with policy none and map_output
# counts them.
instances() {
    case $1 in
        kmeans | cfd) echo 12288 ;;
        ray) echo 12764 ;;
        reduction) echo 8192 ;;
        heartwall) echo 918 ;;
        libor) echo 640 ;;
        bfs) echo 4 ;;
        *) echo 0 ;;
    esac
}
workloads() {
    echo "simt/backprop 20480
        workloads/bfs 131072
        workloads/kmeans 65536 34 1
        workloads/cfd 98304 2
        workloads/heartwall 51 1 592
        workloads/libor 20480 20 6
        workloads/ray 256 2
        simt/walsh 18
        simt/scalar_product 4096
        simt/reduction 16777216 64"
}

# one CROFT DIR "LABEL MACHINE [OPTION...] -- NAME ARGUMENT...": a run; its row goes to a file of its own.
one() {
    local croft=$1 dir=$2 label machine name stats options=() arguments=() part=1
    read -ra arguments <<<"${3#* -- }"
    read -ra options <<<"${3%% -- *}"
    label=${options[0]} machine=${options[1]} name=${arguments[0]}
    stats=$dir/$name.$label.json
    case $label in learn*) part=${label#learn} ;; esac # of 1000
    [[ ${options[*]} != *map=tmap* ]] || options+=(--set "offload.learn_instances=$((($(instances "$name") * part + 999) / 1000))")
    "$croft" run -m "$machine" "${options[@]:2}" --detail roi --stats "$stats" "$dir/$name" "${arguments[@]:1}" \
        >"$dir/$name.$label.output" 2>"$dir/$name.$label.errors" || cat "$dir/$name.$label.errors"
    grep -q correct "$dir/$name.$label.output"
    awk -v name="$name" -v label="$label" '
        /"regions"/ { region = 1 }
        !region { next }
        { key = $1; gsub(/[":]/, "", key); gsub(/[^0-9]/, "", $2) }
        key in seen { next }
        { seen[key]; value[key] = $2 + 0 }
        key ~ /^link\.[0-9]+\.request\.sent_bytes$/ { sent = $2 + 0 > sent ? $2 + 0 : sent }
        key ~ /^link\.[0-9]+\.response\.sent_bytes$/ { received = $2 + 0 > received ? $2 + 0 : received }
        key ~ /^link\.[0-9]+\.(request|response)\.sent_bytes$/ { outer += $2 }
        key ~ /^peer\.[0-9]+\.(request|response)\.sent_bytes$/ { inner += $2 }
        key ~ /^(link|peer)\..*\.energy$/ { links += $2 }
        key ~ /^simt\.[0-9]+\.scheduler\./ { slots += $2 }
        key ~ /^simt\.[0-9]+\.scheduler\.[0-9]+\.base$/ { issued += $2 }
        key ~ /^(simt|stack\.[0-9]+\.simt)\.[0-9]+\..*energy$/ { cores += $2 }
        END {
            print name, label, value["simt.busy"], value["simt.thread_instructions"], sent + 0, received + 0, outer + 0, inner + 0,
                value["offload.offloaded_thread_instructions"] + 0, unlearned, value["offload.map.learn_time"] + value["offload.map.stop_time"],
                value["offload.map.instances"] - value["offload.map.unended"], value["offload.map.unended"] + 0,
                value["offload.map.overshoot"] + 0, value["energy"], cores, links, issued, slots + 0
        }' \
        unlearned="$(grep -c 'the mapping was not learned' "$dir/$name.$label.errors" || true)" "$stats" >"$dir/$name.$label.row"
    jq -r "$seen" "$stats" >"$dir/$name.$label.seen"
    rm "$stats"*
}
# Of a run that the analyzer has seen: the map that was chosen, the blocks seen, the parts of them with requests to one stack for each
# map; the candidates with measured accesses, those with some at fixed offsets, and those with all.
# shellcheck disable=SC2016 # jq's variables
seen='.regions[] | . as $t | [to_entries[] | select(.key | test("measured_accesses$")) | select(.value > 0) |
        [.value, $t[.key | sub("measured_accesses"; "fixed_offsets")]]] as $offsets |
    [$t["offload.map.bit"], $t["offload.map.instances"], (0, range(7; 17) | $t["offload.map.bit.\(.).single"]),
     ($offsets | length), ($offsets | map(select(.[1] > 0)) | length), ($offsets | map(select(.[1] == .[0])) | length)] |
    map(. // 0 | tostring) | join(" ")'

if [ "${1:-}" = --one ]; then
    one "${@:2}"
    exit 0
fi
configurations=${CONFIGURATIONS:-$(machines "${SET:-figure8}")}
croft=$1 dir=$2
mkdir -p "$dir"
rm -f "$dir"/*.row
chosen=
while read -r label machine options; do
    if "$croft" show "$machine" >"$dir/machine" 2>&1; then
        chosen+="$label $machine $options"$'\n'
    else
        echo "$label: left out: $(head -n 1 "$dir/machine")"
    fi
done <<<"$configurations"
[ -n "$chosen" ] || exit 1
list=$(workloads | while read -r program arguments; do
    case " ${WORKING:-${program##*/}} " in *" ${program##*/} "*) echo "$program $arguments" ;; esac
done)
while read -r program _; do
    "$croft" candidates -o "$dir/${program##*/}" "$3/$program" >"$dir/${program##*/}.candidates"
done <<<"$list"
while read -r program arguments; do
    while read -r row; do
        if [ -n "$row" ]; then echo "$row -- ${program##*/} $arguments"; fi
    done <<<"$chosen"
done <<<"$list" | xargs -d '\n' -P "${JOBS:-2}" -n 1 "$0" --one "$croft" "$dir"

printf '%-15s %-12s %8s %8s %6s %7s %5s %5s %7s %6s %6s %7s %6s %6s\n' "" "" "time us" "M insns" "IPC" "rel." "TX" "RX" "bytes" "peers" \
    "insns" "energy" "cores" "links"
while read -r program _; do
    while read -r label _; do
        if [ -n "$label" ]; then cat "$dir/${program##*/}.$label.row"; fi
    done <<<"$chosen"
done <<<"$list" | awk '
    !(1 in first) { first[1] = $2 }
    {
        ipc = $4 / ($3 * 1.4e-6); tx = 100 * $5 / ($3 * 80e-6); rx = 100 * $6 / ($3 * 80e-6)
        if ($2 == first[1]) { base[$1] = $4 / $3; bytes[$1] = $7 + $8; energy[$1] = $15; use[$1] = $18 / $19 }
        gain = 100 * ($4 / $3 / base[$1] - 1); sum[$2] += gain; count[$2]++
        if (!($2 in seen)) { seen[$2]; labels[++kinds] = $2 }
        more = 100 * (($7 + $8) / bytes[$1] - 1); moved[$2] += more
        costs = 100 * ($15 / energy[$1] - 1); cost[$2] += costs; cores[$2] += 100 * $16 / $15; links[$2] += 100 * $17 / $15
        away[$2] += 100 * $9 / $4; peers[$2] += 100 * $8 / ($7 + $8)
        # With a use of u of the issue slots of all 68, and a part p of the instructions in four of them, nothing is faster than 1 / u, and
        # these four take 17 p u of the time.
        part = $9 / $4; most = 17 * part > 68 / 64 * (1 - part) ? 17 * part : 68 / 64 * (1 - part)
        bound = $2 ~ /^ideal/ ? sprintf("  issue slots allow %+.0f%%, with these in stacks %+.0f%%", 100 / use[$1] - 100, 100 / use[$1] / most - 100) : ""
        printf "%-15s %-12s %8.1f %8.1f %6.0f %+6.1f%% %4.0f%% %4.0f%% %+6.1f%% %5.0f%% %5.0f%% %+6.1f%% %5.0f%% %5.0f%%%s%s%s%s\n", $1, $2,
            $3 / 1e9, $4 / 1e6, ipc, gain, tx, rx, more, 100 * $8 / ($7 + $8), 100 * $9 / $4, costs, 100 * $16 / $15, 100 * $17 / $15,
            $2 == first[1] && tx <= 50 && rx <= 50 ? "  no channel over half busy" : "", $10 ? "  not learned: data stay with the host" : "",
            bound, $11 ? sprintf("  learning %.1f%%: %d blocks, %d cut short, %d too many", 100 * $11 / $3, $12, $13, $14) : ""
    }
    END {
        said["ctrl"] = "; paper: +20%"; said["ctrl_tmap"] = said["warps1"] = "; paper: +30%, bytes -13%, energy -11%, cores 68%, links 5%"
        said["no_ctrl"] = "; paper: -7%, energy +8%"; said["no_ctrl_tmap"] = "; paper: -3%, bytes -38%, instructions 46.4%"
        said["ideal"] = said["ideal48"] = "; paper: +58%"
        said["inner1"] = "; paper: +28%"; said["inner2"] = "; paper: +30%"
        said["warps4"] = "; paper: +29%, bytes -34%"
        said["cross10"] = "; paper: +17%"; said["cross20"] = "; paper: +29%"; said["cross80"] = "; paper: +31%"
        for (k = 1; k <= kinds; k++) {
            l = labels[k]; n = count[l]
            printf "%s: mean %+.1f%%, bytes %+.1f%% (%.0f%% between stacks), instructions in stacks %.1f%%, energy %+.1f%% (cores %.0f%%, links %.0f%%)%s\n",
                l, sum[l] / n, moved[l] / n, peers[l] / n, away[l] / n, cost[l] / n, cores[l] / n, links[l] / n, said[l]
        }
    }'
[ "${SET:-}" = maps ] || exit 0

# Figures 5 and 6. A learned map's part is that of all blocks, seen by the first run.
printf '\n%-15s %10s %6s %8s %6s %8s %8s %8s %8s %8s\n' blocks candidates some always blocks "own map" best "0.1%" "0.5%" "1%"
while read -r program _; do
    name=${program##*/}
    echo "$name $(cat "$dir/$name".{seen,learn1,learn5,learn10}.seen | tr '\n' ' ')"
done <<<"$list" | awk '
    function part(bit) { return 100 * $(bit ? bit - 2 : 4) / $3 }
    function add(column, value) { sum[column] += value; return value }
    $3 == 0 { printf "%-15s no block is executed\n", $1; next }
    {
        best = 0
        for (i = 7; i <= 16; i++) best = part(i) > best ? part(i) : best
        rows++; kinds += $15; some += $16; always += $17; wholly += $15 > 0 && $17 == $15
        printf "%-15s %10d %6d %8d %6d %7.1f%% %7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", $1, $15, $16, $17, $3, add(1, part(0)), add(2, best),
            add(3, part($18)), add(4, part($34)), add(5, part($50))
    }
    END {
        printf "%-15s %10d %6d %8d %6s %7.1f%% %7.1f%% %7.1f%% %7.1f%% %7.1f%%; always in %d workloads\n", "all, mean", kinds, some, always, "",
            sum[1] / rows, sum[2] / rows, sum[3] / rows, sum[4] / rows, sum[5] / rows, wholly
        print "paper: some 85%, always in six workloads; 38%, 75%, 72%"
    }'

