#!/bin/bash
# The quality that the applications of the AxRAM paper lose by networks of Table 1's topologies, in each arithmetic: axram_quality.sh
# CROFT DIR. EPOCHS of training (1000), ELEMENTS or IMAGES of 128 * 128 pixels of the evaluation (4096, 2), APPS: some of the ten;
# OPTIONS: further ones of croft neural (--bias). Trained with the paper's training sets. Prints a table; its means are those of its rows.
set -euo pipefail

croft=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
source=$(realpath "$(dirname "$0")/../../examples/axram")
epochs=${EPOCHS:-1000} options=${OPTIONS:-} elements=${ELEMENTS:-4096} images=${IMAGES:-2}
apps=${APPS:-binarization blackscholes convolution inversek2j jmeint laplacian meanfilter newton_raph sobel srad}
declare -A topology=([binarization]=3-4-2-1 [blackscholes]=6-8-1 [convolution]=17-2-1 [inversek2j]=2-16-3 [jmeint]=18-8-2
    [laplacian]=9-2-1 [meanfilter]=7-4-1 [newton_raph]=5-2-1 [sobel]=9-4-1 [srad]=5-4-1)
cd "$dir"

printf 'quality lost, after %s epochs; evaluated with %s elements or %s images%s\n' "$epochs" "$elements" "$images" \
    "${options:+, with $options}"
printf '%-14s %-9s %8s %9s %9s %9s %9s\n' application topology measure SHA FxP FP 'SHA - FP'
for app in $apps; do
    # shellcheck disable=SC2086 # options are words
    "$croft" neural $options --topology "${topology[$app]}" --epochs "$epochs" --folds 2 -o "$app.network.h" "$source/$app.c" train \
        >"$app.training"
    case $(sed -nE 's/.*\.metric = APP_([A-Z]*).*/\1/p' "$source/$app.c") in
    RELATIVE) measure=relative arguments=("$elements") ;;
    MISSES) measure=misses arguments=("$elements") ;;
    *) measure=image arguments=("$images" 128) ;;
    esac
    line=$(printf '%-14s %-9s %8s' "$app" "${topology[$app]}" "$measure")
    for arithmetic in sha fxp fp; do
        "$croft" cc -O2 -DCROFT_APPROX_BY=CROFT_BY_NETWORK -DCROFT_APPROX_ARITHMETIC=$arithmetic -include "$app.network.h" \
            "$source/$app.c" -lm -o "$app-$arithmetic"
        "$croft" run "$app-$arithmetic" "${arguments[@]}" >"$app-$arithmetic.out"
        grep -q '^result    correct$' "$app-$arithmetic.out"
        line+=$(printf ' %9s' "$(sed -n 's/^quality lost //p' "$app-$arithmetic.out" | tr -d ' ')")
    done
    awk -v line="$line" 'BEGIN { split(line, f); printf "%s %8.3f%%\n", line, f[4] - f[6] }'
done | tee table
awk '{ sha += $4; fxp += $5; fp += $6 }
     END { printf "%-33s %8.3f%% %8.3f%% %8.3f%% %8.3f%%   (the paper: +2.1%%, FxP = FP)\n", "arithmetic mean", sha / NR, fxp / NR,
           fp / NR, (sha - fp) / NR }' table
