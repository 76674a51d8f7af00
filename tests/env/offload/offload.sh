#!/usr/bin/env bash
# Processes of Debian that offload to the accelerators of machine nucd (cases.c, thread_cases.c) or use the chips of machine axram (chip_cases.c, chip_maps.c), in
# a Debian that examples/linux/debian.sh has made in the folder IMAGE: of lines typed into /offload/init, and into a shell after a login. What a case prints where the process runs its
# regions itself, qemu-riscv64 says. Skipped where there is no such folder.
# Variables: CROFT (the command), OUT (a folder for products), IMAGE (default build/debian-image).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../../lib.sh"

cd "$(dirname "$0")/../../.."
CROFT=$(realpath "${CROFT:-build/bin/croft}")
IMAGE=${IMAGE:-build/debian-image}
OUT=$(fresh "${OUT:-build/tests/offload}")
if [ ! -e "$IMAGE/debian.img" ]; then
    echo "skipped: offload from Debian: no $IMAGE/debian.img; examples/linux/debian.sh $IMAGE makes it"
    conclude
    exit
fi
IMAGE=$(realpath "$IMAGE")

evidence() {
    tail -n 12 "$OUT/boot.txt" "$OUT/output"
}

riscv64-linux-gnu-gcc -O2 -Wall -Wextra -I. -c host/linux/offload.c -o "$OUT/offload.o"
for name in cases thread_cases; do
    "$CROFT" cc --linux -O2 -Wall -Wextra -I. -static tests/env/offload/$name.c -lm -o "$OUT/$name"
    "$CROFT" cc --linux -O2 -I. -static tests/env/offload/$name.c "$OUT/offload.o" -lm -o "$OUT/offload_$name"
done
"$CROFT" cc --linux -O2 tests/env/offload/cases.c -lm -o "$OUT/shared"

# compares PROGRAM CASE...: the machine prints what qemu-riscv64 does.
names=()
: >"$OUT/typed"
: >"$OUT/wanted"
runs() {
    names+=("$2")
    echo "echo == $2; ./offload_$1 $2 2>/dev/null" >>"$OUT/typed"
}
compares() {
    local name
    for name in "${@:2}"; do
        runs "$1" "$name"
        echo "== $name"
        timeout 60 qemu-riscv64 "$OUT/$1" "$name"
    done >>"$OUT/wanted"
}
# prints PROGRAM CASE: it prints what is in standard input.
prints() {
    runs "$1" "$2"
    echo "== $2"
    cat
} >>"$OUT/wanted"

compares cases values many moved forked handled
compares thread_cases threads neighbours left parts both daemons
prints cases dead <<'END2'
killed: 137
killed: 137
killed: 137
killed: 137
killed: 137
killed: 137
fault: 139
blocked: 139
ignored: 139
3006 4519500
5 9
inf 8
END2
prints cases called <<<159
prints cases fair <<<'fair: 1'
prints thread_cases ends <<'END2'
137 143 137 143 137 143
137 143 137 143 137 143
137 143 137 143 137 143
ends: 7 0 134 8
END2
prints thread_cases heirs <<<'heirs: all pinned, no page is lost'
prints thread_cases refused <<<'14 14 14 14 14 14 22 22 14 14 25 1'
prints thread_cases anew <<<'2 1 1'
prints thread_cases others <<<'others: 132 132 132'
names+=(preloaded unloaded)
cat >>"$OUT/wanted" <<'END2'
== preloaded
67642515
== unloaded
1
0
67642515
END2
# shellcheck disable=SC2129 # one line for each
echo 'echo == preloaded; LD_PRELOAD=./libnucd.so ./shared moved' >>"$OUT/typed"
# A module that a process uses stays.
echo 'echo == unloaded; exec 5</dev/nucd; rmmod nucd 2>/dev/null; echo $?; exec 5<&-; rmmod nucd; echo $?; insmod ./nucd.ko; LD_PRELOAD=./libnucd.so ./shared moved' >>"$OUT/typed"
echo exit >>"$OUT/typed"

CROFT=$CROFT host/linux/axram_library.sh "$OUT/libaxram.a"
for name in tests/env/offload/chip_cases tests/env/offload/chip_maps examples/linux/offload/chips; do
    "$CROFT" cc --linux -O2 -Wall -Wextra -I. -static $name.c "$OUT/libaxram.a" -lm -o "$OUT/$(basename $name)"
done
ACCELERATORS=4 CROFT=$CROFT examples/linux/offload.sh "$IMAGE" "$OUT"/{offload_cases,offload_thread_cases,shared,chip_cases,chip_maps,chips} >"$OUT/boot.txt"
APPEND='quiet init=/offload/init' CROFT=$CROFT timeout 600 "$IMAGE/nucd.sh" boot --save "$OUT/booted.snapshot" --save-at roi </dev/null \
    >>"$OUT/boot.txt" 2>&1 || true
check "no snapshot of the booted system" [ -s "$OUT/booted.snapshot" ]
status=0
CROFT=$CROFT timeout 600 "$IMAGE/nucd.sh" timed --set host.core=inorder --restore "$OUT/booted.snapshot" --stats "$OUT/stats.json" \
    <"$OUT/typed" >"$OUT/output" 2>&1 || status=$?
check "the machine ends with status $status" [ $status = 0 ]
tr -d '\r' <"$OUT/output" | grep -v '^\[' >"$OUT/printed" || true
for name in "${names[@]}"; do
    of() { awk -v name="== $1" '/^==/ { on = $0 == name } on' "$2"; }
    check "$name: it prints something else" cmp -s <(of "$name" "$OUT/wanted") <(of "$name" "$OUT/printed")
done
check "no accelerator has completed a task" grep -qE '"accel.0.tasks": [1-9]' "$OUT/stats.json"

# The same with the chips of machine axram. The program of the examples says that all rows are equal, as it does without Linux.
"$CROFT" cc -O2 examples/linux/offload/chips.c -o "$OUT/bare_chips"
cat >"$OUT/wanted" <<END2
== chips
$("$CROFT" run -m axram "$OUT/bare_chips" | grep rows.equal)
== threads
threads: 0 wrong
== processes
processes: 0 failed
processes: 0 failed
== dead
a load from a chip of others: 139
a network for a chip of others: 139
inputs in a chip of others: 139
a network in other memory: 132
too many chips: 0
killed: 137
left: 0
found: 0
a network: 0
its weights: 0
== refused
22 22 14 25 0 16 11 7
22 22 22 22 75 22 0 13 14 22 0
11 0 0 11
== early
11 0 1
== parts
0 11 11 0 00111100 0 1
== heirs
0 42 0 1
== waits
137 137 3 0 0 1 143 1
== traces
0 5 0
END2
echo 'echo == chips; ./chips | grep rows.equal' >"$OUT/typed"
for name in threads processes dead; do
    echo "echo == $name; ./chip_cases $name" >>"$OUT/typed"
done
maps=(refused early parts heirs waits traces)
for name in "${maps[@]}"; do
    echo "echo == $name; ./chip_maps $name" >>"$OUT/typed"
done
echo exit >>"$OUT/typed"
APPEND='quiet init=/offload/init' CROFT=$CROFT timeout 600 "$IMAGE/axram.sh" boot --save "$OUT/chips.snapshot" --save-at roi </dev/null \
    >>"$OUT/boot.txt" 2>&1 || true
check "axram: no snapshot of the booted system" [ -s "$OUT/chips.snapshot" ]
for core in inorder functional; do
    status=0
    CROFT=$CROFT timeout 600 "$IMAGE/axram.sh" timed --set host.core=$core --restore "$OUT/chips.snapshot" --stats "$OUT/chips.json" \
        <"$OUT/typed" >"$OUT/output" 2>"$OUT/errors" || status=$?
    check "axram, $core: the machine ends with status $status" [ $status = 0 ]
    tr -d '\r' <"$OUT/output" | grep -v '^\[' >"$OUT/printed" || true
    for name in chips threads processes dead "${maps[@]}"; do
        check "axram, $core, $name: it prints something else" cmp -s <(of "$name" "$OUT/wanted") <(of "$name" "$OUT/printed")
    done
    check "axram, $core: the cause of an illegal instruction is not said" grep -q 'is not in accelerator memory, which is at 0x8c000000' "$OUT/errors"
done

# waits_for TEXT: until the console has shown it, at most ten minutes.
waits_for() {
    local try
    for ((try = 0; try < 600; try++)); do
        ! grep -qF -- "$1" "$OUT/login.txt" || return 0
        sleep 1
    done
    fail "login: the console does not show: $1"
    return 1
}

# A login on a terminal, which `script` provides. It is saved at its prompt; what is typed there offloads.
mkfifo "$OUT/keys"
exec 4<>"$OUT/keys"
: >"$OUT/login.txt"
timeout 1200 script -qfec "CROFT='$CROFT' '$IMAGE/nucd.sh' boot --save '$OUT/login.snapshot'" "$OUT/login.txt" <&4 >/dev/null 2>&1 &
# shellcheck disable=SC2016 # the dollar is for Debian
if waits_for "debian login: " && echo root >&4 && waits_for "root@debian:~#" &&
    echo 'cd /offload; modprobe virtio-rng; head -c 1 /dev/random >/dev/null; echo number $((6 * 7))' >&4 && waits_for "number 42"; then
    sleep 2 # for the prompt
fi
printf '\001x' >&4
wait $! || true
exec 4>&-
check "login: no snapshot" [ -s "$OUT/login.snapshot" ]
printf '%s\n' 'insmod nucd.ko' 'LD_PRELOAD=./libnucd.so ./shared moved' 'sync; echo o >/proc/sysrq-trigger' >"$OUT/typed"
status=0
CROFT=$CROFT timeout 600 "$IMAGE/nucd.sh" timed --set host.core=inorder --restore "$OUT/login.snapshot" --stats "$OUT/login.json" \
    <"$OUT/typed" >"$OUT/output" 2>&1 || status=$?
check "login: the machine ends with status $status" [ $status = 0 ]
check "login: the program prints something else" grep -q 67642515 "$OUT/output"
check "login: no accelerator has completed a task" grep -qE '"accel.0.tasks": [1-9]' "$OUT/login.json"
conclude
