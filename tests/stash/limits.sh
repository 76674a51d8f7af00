# Machines of the Stash paper with all their resources, with few (`small`), and with caches that hold little (`tiny`). Source this file
# behind tests/lib.sh; it uses $out, the script's run(), the programs `contend` and `launch`, and $rounds.
# shellcheck shell=bash disable=SC2154

# limited LIMITS OPTIONS...: stores in `options` the options of a run with the checkers, and with the settings of the array LIMITS.
limited() {
    options=("${@:2}" --check dram --check coherence)
    case $1 in small) options+=("${small[@]}") ;; tiny) options+=("${tiny[@]}") ;; esac
}

# under_limits: cores that contend for lines and launch, and multiprocessors, give what qemu-riscv64 gives.
under_limits() {
    local core limits
    for core in inorder ooo; do
        for limits in '' small tiny; do
            limited "$limits" -m stash_micro --set host.core=$core
            oracle "$out/wanted" "$out/contend" 15 "$rounds"
            run "${options[@]}" "$out/contend" 15 "$rounds"
            check "15 $core cores contend, $limits" same
            oracle "$out/wanted" "$out/launch" work 15
            run "${options[@]}" "$out/launch" work 15
            check "15 $core cores launch, $limits" same
        done
    done
    for limits in '' small tiny; do
        limited "$limits" -m stash_apps
        run "${options[@]}" "$out/launch" work 15
        check "15 multiprocessors, $limits" same
    done
}
