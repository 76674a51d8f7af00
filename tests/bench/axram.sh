#!/bin/bash
# The AxRAM paper's comparison of a GPU, of neural units in its lanes (NGPU), and of AxRAM: axram.sh CROFT DIR. The ten applications, with
# networks of Table 1's topologies, on machine ngpu without its units, on ngpu (FP, as the paper's), and on axram in SHA, FxP and FP with
# 12 chips, with both choices of axram.columns and with axram.held, and in SHA with 6; AxRAM's inputs are laid out by the host before the kernel, and once more by the threads ("staged").
# COUNT elements (65536; images of SIDE * SIDE pixels, 256, IMAGES of them, 1), EPOCHS of training (20), APPS: some of the ten, JOBS at
# a time (2). SHA runs on HBM and in an HMC's vaults, too. Prints the paper's figures 1, 7, 8 and 10 to 12, and Table 3; figure 9 is axram_quality.sh's.
set -euo pipefail

croft=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
source=$here/../../examples/axram
count=${COUNT:-65536} side=${SIDE:-256} images=${IMAGES:-1} epochs=${EPOCHS:-20} jobs=${JOBS:-2}
apps=${APPS:-binarization blackscholes convolution inversek2j jmeint laplacian meanfilter newton_raph sobel srad}
declare -A topology=([binarization]=3-4-2-1 [blackscholes]=6-8-1 [convolution]=17-2-1 [inversek2j]=2-16-3 [jmeint]=18-8-2
    [laplacian]=9-2-1 [meanfilter]=7-4-1 [newton_raph]=5-2-1 [sobel]=9-4-1 [srad]=5-4-1)
cd "$dir"

# The base GPU; and both machines with a memory that takes almost no time, which tells how much of the time goes into transfers.
printf 'extends: ngpu\ndescription: the base GPU of the AxRAM paper\nngpu: none\n' >gpu.yaml
cat >free.txt <<'EOF'
dram:
  {tCK: 100 ps, front_latency: 0 ns, back_latency: 0 ns, refresh: none, tREFI: 2 us, tRFC: 1 ns, tBURST: 100 ps, tCL: 100 ps, tCWL: 100 ps,
   tRCDRD: 100 ps, tRCDWR: 100 ps, tRP: 100 ps, tRAS: 100 ps, tRC: 200 ps, tRRDS: 100 ps, tRRDL: 100 ps, tFAW: 400 ps, t32AW: 3.2 ns,
   tCCDS: 100 ps, tCCDL: 100 ps, tWTRS: 100 ps, tWTRL: 100 ps, tWR: 100 ps, tRTP: 100 ps, tTURN: 100 ps, tPPD: 100 ps}
EOF
for machine in gpu ngpu; do
    printf 'extends: ngpu\ndescription: machine %s with a memory that takes almost no time\n' $machine >free_$machine.yaml
    if [ $machine = gpu ]; then echo 'ngpu: none' >>free_gpu.yaml; fi
    cat free.txt >>free_$machine.yaml
done

# What axram.awk reads of one region: time in ns; energy in nJ, in all, of the memory, of its background, of the units in its chips, of the
# crossbar; activated banks; columns; bits read, written, and sent over the pins.
# shellcheck disable=SC2016 # jq's variables
columns='.regions[$region] | [.["sim.time"] / 1e6, .energy / 1e6, .["energy.dram"] / 1e6,
    ([.["dram.open.energy"], .["dram.closed.energy"], .["dram.refresh.energy"]] | add // 0) / 1e6, (.["energy.axram"] // 0) / 1e6,
    .["energy.network"] / 1e6, .["dram.activates"] + 4 * (.["dram.activates4"] // 0),
    .["dram.reads"] + .["dram.writes"] + 4 * ((.["dram.reads4"] // 0) + (.["dram.writes4"] // 0)),
    256 * .["dram.reads"] + 1024 * (.["dram.reads4"] // 0), 256 * .["dram.writes"] + 1024 * (.["dram.writes4"] // 0),
    256 * (.["dram.reads"] + .["dram.writes"]) + 32 * ((.["dram.accelerator_polls"] // 0) + (.["dram.accelerator_words"] // 0))] |
    map(tostring) | join(" ")'

# run APP WAY PROGRAM OPTIONS...: prints a row for axram.awk. PROGRAM's arguments are those in arguments[].
run() {
    local app=$1 way=$2 program=$3
    shift 3
    "$croft" run "$@" --detail roi --stats "$app-$way.json" "$program" "${arguments[@]}" >"$app-$way.out"
    grep -q '^result    correct$' "$app-$way.out"
    echo "$app $way $(jq -r --arg region "$app" "$columns" "$app-$way.json")"
}

# measure APP: writes APP.rows.
measure() {
    local app=$1 train=(train 512) arguments=("$count") copies=1 plain
    if grep -q '\.pictures = 1' "$source/$app.c"; then
        train=(train 1 48) arguments=("$images" "$side")
        [ "$app" = binarization ] || copies=${topology[$app]%%-*} # windows of pixels
    fi
    plain=("${arguments[@]}")
    "$croft" neural --topology "${topology[$app]}" --epochs "$epochs" --folds 2 -o "$app.network.h" "$source/$app.c" "${train[@]}" \
        >"$app.training"
    "$croft" cc -O3 "$source/$app.c" -lm -o "$app-gpu"
    "$croft" cc -O3 -include "$app.network.h" -DCROFT_APPROX_BY=CROFT_BY_NGPU -DCROFT_NGPU_FOLD -DCROFT_APPROX_ARITHMETIC=fp "$source/$app.c" -lm -o "$app-ngpu"
    for arithmetic in sha fxp fp; do
        "$croft" cc -O3 -include "$app.network.h" -DCROFT_APPROX_BY=CROFT_BY_AXRAM -DCROFT_APPROX_ARITHMETIC=$arithmetic "$source/$app.c" \
            -lm -o "$app-$arithmetic"
    done
    {
        run "$app" gpu "$app-gpu" -m gpu.yaml
        run "$app" free_gpu "$app-gpu" -m free_gpu.yaml
        run "$app" ngpu "$app-ngpu" -m ngpu
        run "$app" free_ngpu "$app-ngpu" -m free_ngpu.yaml
        run "$app" staged "$app-sha" -m axram
        arguments=(batch "${plain[@]}")
        run "$app" sha "$app-sha" -m axram
        run "$app" fxp "$app-fxp" -m axram
        run "$app" fp "$app-fp" -m axram
        run "$app" sha_paper "$app-sha" -m axram --set axram.columns=paper
        run "$app" fxp_paper "$app-fxp" -m axram --set axram.columns=paper
        run "$app" sha_held "$app-sha" -m axram --set axram.held=32
        run "$app" fxp_held "$app-fxp" -m axram --set axram.held=32
        run "$app" six "$app-sha" -m axram --set dram.channels=6 --set memory.size=768MiB
        for memory in hbm hmc; do run "$app" $memory "$app-sha" -m "$here/../../examples/machines/axram_$memory.yaml"; done
    } >"$app.rows"
    jq -r --arg app "$app" --arg copies "$copies" \
        '[.regions[$app + "_put", $app + "_get"]["sim.time"] / 1e6, $copies] | $app + " " + (map(tostring) | join(" "))' \
        "$app-sha.json" >"$app.laid"
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
for app in $apps; do cat "$app.rows"; done >rows
for app in $apps; do cat "$app.laid"; done >laid

echo "$count elements or $images of $side * $side pixels, networks after $epochs epochs"
awk -f "$here/axram.awk" laid=laid rows
