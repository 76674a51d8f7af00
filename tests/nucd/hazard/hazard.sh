#!/bin/bash
# Random offloading programs on machine nucd against qemu-riscv64: hazard.sh RANDOM FAULTS HOSTS THREADS, with CROFT and
# OUT set. RANDOM prints a digest after each of its bodies. In FAULTS, each odd body has a region that ends the
# program, and runs as a program of its own. HOSTS has the bodies of RANDOM without an operating system, for
# several hosts at the same time; it is compared with qemu-system-riscv64. THREADS has them in threads beneath the kernel. ALL=1 runs every combination of mode, number of accelerators and
# host size; otherwise a selection with each of them. CONFIGURATIONS="NAME..." runs only these. Prints "N
# passed, N failed"; a test is a body in a configuration.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../../lib.sh"

random=$(realpath "$1") faults=$(realpath "$2") hosts=$(realpath "$3") threads=$(realpath "$4")
croft=$(realpath "${CROFT:?}") jobs=$(nproc)
mkdir -p "$OUT"
out=$(realpath "$OUT")

# Host sizes: name, then keys below `host`.
declare -A sizes=(
    [tiny]="rob=16 store_queue=1 load_queue=1 iq=2 int_renames=8 fp_renames=4 fetch_queue=8"
    [small]="rob=16 store_queue=2 load_queue=2 iq=8"
    [flat]="rob=128 store_queue=1 load_queue=8"
    [short]="rob=16 store_queue=24"
    [medium]="rob=64 store_queue=8 load_queue=16 iq=32"
    [paper]="rob=128 store_queue=24"
    [huge]="rob=512 store_queue=256 load_queue=256 iq=512 int_renames=512 fp_renames=512 fetch_queue=512"
)

prefetchers_off="--set host.l1d.prefetch=none --set accel.l1d.prefetch=none --set l2.prefetch=none"

# options_of CONFIGURATION: prints the options of croft run for MODE-ACCELERATORS-SIZE or for a special
# configuration. Mode `kept` is nucd with nucd.retire=checkpoint.
options_of() {
    local mode count size key
    case $1 in
    narrow) # few tasks, the shortest queues, capabilities that some regions miss, slow accelerators
        echo "--set nucd.tasks=2 --set nucd.queue_lines=2 --set nucd.capabilities=15 --set accel.count=2 --set accel.clock=100MHz"
        return ;;
    single) echo "--set nucd.tasks=1 --set accel.count=4"; return ;;
    prefetch) # far ahead, and over small tables
        echo "--set host.l1d.prefetch=stride --set host.l1d.prefetch_degree=8 --set accel.l1d.prefetch=stride" \
            "--set accel.l1d.prefetch_distance=63 --set accel.l1d.prefetch_table=2 --set l2.prefetch=stream" \
            "--set l2.prefetch_degree=8 --set l2.prefetch_distance=63 --set accel.count=4"
        return ;;
    nextline) echo "--set host.l1d.prefetch=next_line --set host.l1i.prefetch=next_line --set accel.l1d.prefetch=next_line --set l2.prefetch=next_line --set accel.count=4"; return ;;
    noprefetch) echo "$prefetchers_off --set accel.count=4"; return ;;
    inorder) echo "--set host.core=inorder --set accel.count=4"; return ;;
    blocks) echo "--env kernel --set host.core=inorder --set nucd.mode=ideal --set accel.count=1"; return ;;
    checkpoint) echo "--env kernel --set nucd.retire=checkpoint --set nucd.checkpoints=1 --set nucd.checkpoint_window=512"; return ;;
    kernel) echo "--env kernel --set accel.count=4"; return ;;
    page) echo "--set accel.count=4 --set nucd.ranges=page --set nucd.frontend_stall=true"; return ;;
    oracle) echo "--set accel.count=4 --set nucd.ranges=oracle"; return ;;
    oracle-kept) echo "--env kernel --set accel.count=16 --set nucd.ranges=oracle --set nucd.retire=checkpoint"; return ;;
    compiled) echo "-m functional --jit=always"; return ;;
    compiled-kernel) echo "-m functional --env kernel --jit=always"; return ;;
    compiled-checked) echo "-m functional --jit=check"; return ;;
    driver) echo "--env kernel --set nucd.mode=driver --set nucd.os_clocks=100 --set accel.count=4"; return ;;
    kept-noprefetch) echo "$(options_of noprefetch) --set nucd.retire=checkpoint"; return ;;
    hosts-*) hosts_options "$1"; return ;;
    threads-*) threads_options "$1"; return ;;
    esac
    IFS=- read -r mode count size <<<"$1"
    if [ "$mode" = kept ]; then
        printf -- '--set nucd.retire=checkpoint '
        mode=nucd
    fi
    printf -- '--set nucd.mode=%s --set accel.count=%s' "$mode" "$count"
    for key in ${sizes[$size]}; do printf -- ' --set host.%s' "$key"; done
    echo
}

# Threads on several hosts beneath the kernel, whose driver they share, or on one.
threads_options() {
    printf -- '--env kernel '
    case $1 in
    threads-1-driver) echo "--set host.count=1 --set accel.count=2 --set nucd.mode=driver --set nucd.os_clocks=100" ;;
    threads-2-driver) echo "--set host.count=2 --set accel.count=4 --set nucd.mode=driver --set nucd.os_clocks=100" ;;
    threads-2-driver-plain)
        echo "--set host.count=2 --set accel.count=1 --set nucd.mode=driver --set nucd.os_clocks=100 $prefetchers_off" ;;
    threads-8-driver)
        echo "--set host.count=8 --set accel.count=3 --set nucd.mode=driver --set nucd.os_clocks=0 --set nucd.queue_lines=2" ;;
    threads-3-inorder)
        echo "--set host.count=3 --set accel.count=2 --set nucd.mode=driver --set nucd.os_clocks=0 --set host.core=inorder" ;;
    threads-2) echo "--set host.count=2 --set accel.count=4" ;;
    threads-2-plain) echo "--set host.count=2 --set accel.count=4 $prefetchers_off" ;;
    threads-2-kept) echo "--set host.count=2 --set accel.count=3 --set nucd.retire=checkpoint" ;;
    threads-2-kept-plain) echo "--set host.count=2 --set accel.count=2 --set nucd.retire=checkpoint $prefetchers_off" ;;
    threads-4-ideal) echo "--set host.count=4 --set accel.count=2 --set nucd.mode=ideal" ;;
    esac
}

# Several hosts: more and fewer than accelerators, each policy, both ways to retire, with and without prefetchers.
hosts_options() {
    printf -- '--firmware %s ' "$(dirname "$croft")/../share/croft/firmware/nucd.elf"
    case $1 in
    hosts-1) echo "--set accel.count=4" ;;
    hosts-2) echo "--set host.count=2 --set accel.count=4" ;;
    hosts-2-plain) echo "--set host.count=2 --set accel.count=4 $prefetchers_off" ;;
    hosts-2-kept) echo "--set host.count=2 --set accel.count=3 --set nucd.retire=checkpoint" ;;
    hosts-2-kept-plain)
        echo "--set host.count=2 --set accel.count=2 --set nucd.retire=checkpoint --set nucd.arbitration=first_come" \
            "--set host.l1d.prefetch=none --set accel.l1d.prefetch=none --set l2.prefetch=none" ;;
    hosts-4-first) echo "--set host.count=4 --set accel.count=2 --set nucd.arbitration=first_come" ;;
    hosts-4-one) echo "--set host.count=4 --set accel.count=1 --set nucd.queue_lines=2 --set accel.clock=200MHz" ;;
    hosts-4-plain)
        echo "--set host.count=4 --set accel.count=3 --set host.l1d.prefetch=none --set accel.l1d.prefetch=none" \
            "--set l2.prefetch=none" ;;
    hosts-3-inorder) echo "--set host.count=3 --set accel.count=2 --set host.core=inorder" ;;
    hosts-3-ideal) echo "--set host.count=3 --set accel.count=2 --set nucd.mode=ideal" ;;
    hosts-2-oracle) echo "--set host.count=2 --set accel.count=4 --set nucd.ranges=oracle" ;;
    hosts-2-partition) echo "--set host.count=2 --set accel.count=3 --set nucd.arbitration=partition" ;;
    esac
}

list() {
    local mode count size
    echo narrow single prefetch nextline noprefetch inorder blocks kernel checkpoint page oracle oracle-kept driver none-16-paper compiled compiled-kernel
    echo hosts-1 hosts-2 hosts-2-kept hosts-2-kept-plain hosts-4-first hosts-4-one hosts-4-plain hosts-3-inorder \
        hosts-3-ideal hosts-2-oracle hosts-2-partition hosts-2-plain kept-noprefetch
    echo threads-2-driver threads-2-driver-plain threads-8-driver threads-2-kept
    if [ -n "${ALL:-}" ]; then
        echo compiled-checked threads-1-driver threads-3-inorder threads-2 threads-2-plain threads-2-kept-plain threads-4-ideal
        for mode in nucd kept ideal; do
            for count in 1 4 16; do
                for size in "${!sizes[@]}"; do echo "$mode-$count-$size"; done
            done
        done
    else
        echo nucd-1-tiny ideal-16-tiny nucd-4-small ideal-1-small nucd-16-flat nucd-4-short nucd-16-medium
        echo nucd-1-paper ideal-4-paper nucd-16-paper nucd-16-huge ideal-1-huge
        echo kept-4-tiny kept-16-flat kept-16-medium kept-16-paper
    fi
}

# Writes to the current folder: the output of the random bodies, and each fault's output and status, under the
# given command.
run_all() {
    local body last status
    timeout 600 "$@" "$random" >random.out 2>random.err
    echo "status $?" >>random.out
    last=$(nm "$faults" | grep -c ' body_[0-9]*$')
    : >faults.out
    for ((body = 1; body < last; body += 2)); do
        status=0
        { timeout 600 "$@" "$faults" $((body - 1)) "$body" | base64 -w 0; } >fault.out 2>fault.err || status=$?
        echo "fault $body: $(cat fault.out) status $status" >>faults.out
        [ ! -s fault.err ] || sed "s/^/fault $body: /" fault.err >>faults.err
    done
} 2>/dev/null

# Runs one configuration in its own folder.
configuration() {
    local options
    read -r -a options < <(options_of "$1")
    rm -rf "${out:?}/$1" && mkdir -p "$out/$1" && cd "$out/$1" || exit 1
    if [[ $1 == hosts-* ]]; then
        run_hosts timeout 300 "$croft" run -m nucd "${options[@]}" "$hosts"
    elif [[ $1 == threads-* ]]; then
        run_threads "$croft" run -m nucd "${options[@]}"
    else
        run_all "$croft" run -m nucd "${options[@]}"
    fi
}

# Writes the output of all hosts' bodies to the current folder.
run_hosts() {
    "$@" >hosts.out 2>hosts.err </dev/null
    echo "status $?" >>hosts.out
}

run_threads() {
    timeout 600 "$@" "$threads" >threads.out 2>threads.err </dev/null
    echo "status $?" >>threads.out
}

# compare CONFIGURATION: counts tests, and prints the first difference.
compare() {
    local file good bad files="random faults"
    [[ $1 != hosts-* ]] || files=hosts
    [[ $1 != threads-* ]] || files=threads
    for file in $files; do
        read -r good bad < <(diff --unchanged-line-format='=%c'\''\012'\''' --new-line-format='' \
            --old-line-format='-%c'\''\012'\''' "$out/qemu/$file.out" "$out/$1/$file.out" |
            awk '/^=/ { good++ } /^-/ { bad++ } END { print good + 0, bad + 0 }')
        add "$good" "$bad"
        [ "$bad" -eq 0 ] || complain "$1" "$file" "$bad"
    done
}

complain() {
    local expected program=$random name body
    [ "$2" != faults ] || program=$faults
    [ "$2" != hosts ] || program=$hosts
    [ "$2" != threads ] || program=$threads
    expected=$(diff "$out/qemu/$2.out" "$out/$1/$2.out" | grep -m 1 '^<' | cut -c 3-)
    body=${expected%%:*}
    body=${body##* }
    [ "$2" != hosts ] && [ "$2" != threads ] || body=
    name=${program##*/}
    echo "$1: $3 of $2 differ, the first is (seed and bodies in the name of $name):"
    echo "  qemu  ${expected:0:160}"
    echo "  croft $(grep -m 1 "^${expected%%:*}:" "$out/$1/$2.out" | cut -c 1-160)"
    [ ! -s "$out/$1/$2.err" ] || head -n 4 "$out/$1/$2.err" | sed 's/^/  /'
    echo "  again: cd $out/$1 && $croft run -m nucd $(options_of "$1") $program $body"
    [ -z "$body" ] || echo "  smaller: tests/nucd/hazard/minimise.sh $name $body -m nucd $(options_of "$1")"
}

running=0
read -r -a configurations < <(if [ -n "${CONFIGURATIONS:-}" ]; then echo "$CONFIGURATIONS"; else list; fi | tr '\n' ' ')
rm -rf "$out/qemu" && mkdir -p "$out/qemu"
(cd "$out/qemu" && run_all qemu-riscv64 && run_threads qemu-riscv64 && run_hosts timeout 300 qemu-system-riscv64 -M virt -bios none -display none \
    -monitor none -serial stdio -kernel "$hosts")
for name in "${configurations[@]}"; do
    if [ "$running" -ge "$jobs" ]; then
        wait -n
        running=$((running - 1))
    fi
    (configuration "$name") &
    running=$((running + 1))
done
wait
for name in "${configurations[@]}"; do compare "$name"; done
conclude
