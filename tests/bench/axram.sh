#!/bin/bash
# The AxRAM paper's comparison of a GPU, of neural units in its lanes (NGPU), and of AxRAM: axram.sh CROFT DIR. The ten applications, with
# networks of Table 1's topologies, on machine ngpu without its units, on ngpu (FP, as the paper's), and on axram in SHA, FxP and FP with
# 12 chips, and in SHA with 6. COUNT elements (16384; images of SIDE * SIDE pixels, 128), EPOCHS of training (20), APPS: some of the
# ten, JOBS at a time (2). Prints how much faster and how much less energy, means, and what crosses the chips' pins.
set -euo pipefail

croft=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../../examples/axram")
count=${COUNT:-16384} side=${SIDE:-128} epochs=${EPOCHS:-20} jobs=${JOBS:-2}
apps=${APPS:-binarization blackscholes convolution inversek2j jmeint laplacian meanfilter newton_raph sobel srad}
declare -A topology=([binarization]=3-4-2-1 [blackscholes]=6-8-1 [convolution]=17-2-1 [inversek2j]=2-16-3 [jmeint]=18-8-2
    [laplacian]=9-2-1 [meanfilter]=7-4-1 [newton_raph]=5-2-1 [sobel]=9-4-1 [srad]=5-4-1)
cd "$dir"
printf 'extends: ngpu\ndescription: the base GPU of the AxRAM paper\nngpu: none\n' >gpu.yaml

# run APP NAME OPTIONS...: compiles by OPTIONS up to --, runs by those behind; prints time in ns, energy in uJ, and MB over the pins.
run() {
    local app=$1 program=$1-$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    "$croft" cc -O2 "${options[@]}" "$source/$app.c" -lm -o "$program"
    "$croft" run "$@" --detail roi --stats "$program.json" "$program" "${arguments[@]}" >"$program.out"
    grep -q '^result    correct$' "$program.out"
    jq -r --arg app "$app" '.regions[$app] | [.["sim.time"] / 1e6, .energy / 1e9,
        (32 * (.["dram.reads"] + .["dram.writes"]) + 4 * (.["dram.accelerator_words"] // 0)) / 1e6] | map(tostring) | join(" ")' "$program.json"
}

# measure APP: writes APP.row, three numbers for each of the six ways.
measure() {
    local app=$1 train=(train 512) arguments=("$count") image by
    if grep -q '\.pictures = 1' "$source/$app.c"; then
        train=(train 1 48) arguments=(1 "$side")
    fi
    "$croft" neural --topology "${topology[$app]}" --epochs "$epochs" --folds 2 -o "$app.network.h" "$source/$app.c" "${train[@]}" \
        >"$app.training"
    image=(-include "$app.network.h" -DCROFT_APPROX_BY=CROFT_BY_AXRAM)
    by=(-include "$app.network.h" -DCROFT_APPROX_BY=CROFT_BY_NGPU)
    {
        run "$app" gpu -- -m gpu.yaml
        run "$app" ngpu "${by[@]}" -DCROFT_APPROX_ARITHMETIC=fp -- -m ngpu
        for arithmetic in sha fxp fp; do
            run "$app" $arithmetic "${image[@]}" -DCROFT_APPROX_ARITHMETIC=$arithmetic -- -m axram
        done
        run "$app" six "${image[@]}" -- -m axram --set dram.channels=6 --set memory.size=768MiB
    } | paste -sd' ' >"$app.row"
}

running=0
for app in $apps; do
    measure "$app" &
    running=$((running + 1))
    if [ "$running" -ge "$jobs" ]; then
        wait -n
        running=$((running - 1))
    fi
done
while [ "$running" -gt 0 ]; do
    wait -n
    running=$((running - 1))
done
for app in $apps; do echo "$app $(cat "$app.row")"; done >rows

# table TITLE OFFSET PAPER: the GPU's column OFFSET (1 time, 2 energy) over that of the others.
table() {
    printf '\n%s\n%-14s %9s %9s %9s %9s %9s %9s\n' "$1" application NGPU SHA FxP FP 'SHA 6' 'SHA/NGPU'
    awk -v o="$2" -v paper="$3" '
        { printf "%-14s", $1
          for (i = 1; i <= 6; i++) {
              ratio = i < 6 ? $(1 + o) / $(1 + o + 3 * i) : $(4 + o) / $(7 + o)
              sum[i] += ratio; logs[i] += log(ratio); printf " %8.2fx", ratio
          }
          print "" }
        END { printf "%-14s", "arithmetic"; for (i = 1; i <= 6; i++) printf " %8.2fx", sum[i] / NR
              printf "\n%-14s", "geometric"; for (i = 1; i <= 6; i++) printf " %8.2fx", exp(logs[i] / NR)
              printf "\n%s\n", paper }' rows
}
echo "$count elements or $side * $side pixels, networks after $epochs epochs"
table "faster than the GPU" 1 "the paper      SHA 2.6x, FxP and FP 2.0x; SHA/NGPU 1.1x"
table "less energy than the GPU" 2 "the paper      SHA 13.3x; SHA/NGPU 4.8x"
printf '\nGB/s over the pins\n%-14s %9s %9s %9s %9s\n' application GPU NGPU SHA 'MB: NGPU/SHA'
awk '{ printf "%-14s %9.2f %9.2f %9.2f %9.2f\n", $1, $4 / $2 * 1e6, $7 / $5 * 1e6, $10 / $8 * 1e6, $7 / $10
       g += $4 / $2; n += $7 / $5; a += $10 / $8 }
     END { printf "%-14s %9.2f %9.2f %9.2f\nthe paper      NGPU 2.2x the GPU; AxRAM 16x less than NGPU, 7.3x less than the GPU\n", "arithmetic",
           g / NR * 1e6, n / NR * 1e6, a / NR * 1e6 }' rows
