# Shared by the scripts that run guests with tasks beneath the kernel. Source it after lib.sh, with $CROFT and $OUT set.
# shellcheck shell=bash disable=SC2034,SC2154

evidence() {
    cat "$OUT/errors"
}

# Options for the following runs.
options=()

# run_on HOSTS ACCELERATORS MODE CLOCKS PROGRAM ARGUMENTS...: runs the program on machine nucd; CLOCKS is nucd.os_clocks.
# Output, messages and statistics go to $OUT; sets $status.
run_on() {
    local hosts=$1 accelerators=$2 mode=$3 clocks=$4
    shift 4
    status=0
    timeout 600 "$CROFT" run -m nucd --env kernel --set host.count="$hosts" --set accel.count="$accelerators" \
        --set nucd.mode="$mode" --set nucd.os_clocks="$clocks" --stats "$OUT/stats.json" "${options[@]}" "$@" \
        >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
}

same() {
    [ "$status" = "$wanted" ] && cmp -s "$OUT/output" "$OUT/wanted"
}

# counted NAME: prints the counter's value at the end of the run.
counted() {
    sed -n "s/^ *\"nucd\.$1\": \([0-9]*\),*$/\1/p" "$OUT/stats.json" | head -n 1
}

says() {
    grep -qF -- "$1" "$OUT/errors"
}
