#!/bin/bash
# What a user sees of multiprocessors: traces of accesses and timelines, figures of kernels: views.sh CROFT. Expected
# numbers are derived by hand from the kernels. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
scratch
cd "$work" || exit 1

cat >views.c <<'END'
#include <croft/simt.h>
#include <stdio.h>

enum { BLOCKS = 24, THREADS = 64, COUNT = BLOCKS * THREADS };
_Alignas(4096) static float from[COUNT], to[COUNT];
static unsigned sum;

static void scale(float *x)
{
    unsigned i = (unsigned)thread_id();
    to[i] = __builtin_fmaf(x[i], 3, 1); /* here */
}

static void count(unsigned *total)
{
    __atomic_fetch_add(total, 1, __ATOMIC_RELAXED);
}

int main(void)
{
    for (int i = 0; i < COUNT; i++)
        from[i] = (float)i;
    simt_launch(scale, from, simt_dim(BLOCKS / 4, 4), simt_dim(THREADS));
    simt_launch(scale, from, simt_dim(BLOCKS), simt_dim(THREADS));
    simt_launch(count, &sum, simt_dim(2), simt_dim(32));
    simt_wait(0);
    printf("%p %p %g %u\n", (void *)from, (void *)to, (double)to[COUNT - 1], sum);
}
END
"$croft" cc -O2 -g views.c -o views || exit 1

# The trace of accesses. Block b of 64 threads loads and stores the bytes from 256 * b on of its arrays: two lines of 128
# bytes each, by 32 threads.
"$croft" run -m gpu --trace memory --stats stats.json ./views >output 2>errors
check "the program" test $? -eq 0
read -r from to _ <output
zstd -dc trace.memory.zst >trace
check "the header" test "$(head -n 1 trace)" = "croft memory trace 2"
tail -c +65 trace | od -An -v -t x8 -w48 | awk '{ print >(substr($5, 1, 4) == "0003" ? "launches" : "records") }'
# blocks ARRAY KIND: of each record of that kind in an array: launch, block, place in the array / 128, bytes, threads.
blocks() {
    awk -v base="$((${1}))" -v kind="$2" '
        function hex(text,    i, value) {
            for (i = 1; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
            return value
        }
        { address = hex($2) - base }
        address >= 0 && address < 6144 && hex(substr($5, 1, 4)) % 256 == kind {
            print hex(substr($4, 1, 8)), hex(substr($4, 9)), address / 128, hex(substr($5, 5, 4)), int(hex(substr($5, 1, 4)) / 512)
        }' records | sort -n -k1,1 -k3,3
}
for launch in 1 2; do for line in $(seq 0 47); do echo "$launch $((line / 2)) $line 128 32"; done; done >wanted
blocks "$from" 0 >loads
blocks "$to" 1 >stores
check "the loads" cmp -s loads wanted
check "the stores" cmp -s stores wanted
# The 64 threads of `count` add to one word: a request for each.
check "the atomics" test "$(awk 'substr($5, 1, 4) ~ /02$/' records | wc -l)" -eq 64
check "launches and their blocks" test "$(awk '{ print $4, $5 }' launches | tr '\n' ' ')" = \
    "0000000100000018 0003000000000000 0000000200000018 0003000000000000 0000000300000002 0003000000000000 "
# By kernel: an array has 16 blocks in its first page and 8 in its second; a warp has a load and a store.
"$croft" pages --program views --first "$to" --last $((from + 6143)) trace.memory.zst >output 2>errors
check "pages by kernel" test "$(awk 'NR > 1 { print $1, $2, $3, $4, $5, $6, $7 ";" }' output | tr -d '\n')" = \
    "scale 2 24 4 192 12.00 16;count 1 2 0 0 0.00 0;all 3 24 4 192 12.00 16;"
check "each request is recorded" test "$(wc -l <records)" -eq \
    "$(jq '[.total | to_entries[] | select(.key | test("^simt\\.[0-9]+\\.(requests|atomic_requests)$")).value] | add' stats.json)"
check "multiprocessors" test "$(awk '{ print substr($5, 13) }' records | sort -u | wc -l)" -eq 15
head -c 1000 trace.memory.zst >cut.zst
check "a trace that is cut off is noticed" test "$(zstd -dc cut.zst 2>&1 >/dev/null | grep -c .)" -ge 1
"$croft" run -m ddr3 --trace memory ./views >output 2>errors
check "no multiprocessors: the status" test $? -eq 1
check "no multiprocessors: the reason" grep -q "has no multiprocessors (simt.count)" errors

# Timelines: each block is a span, and the stalls in windows of 1 us add up to the counted ones.
"$croft" run -m gpu --set simt.count=2 --trace perfetto --stats stats.json ./views >output 2>errors
check "spans of blocks" test "$(jq '[.. | objects | select(.ph == "b" and .cat == "block")] | length' trace.json)" -eq $((24 + 24 + 2))
check "a block's launch" test "$(jq '[.. | objects | select(.ph == "b" and .cat == "block" and .args.launch == 3)] | length' trace.json)" -eq 2
check "blocks have coordinates" test "$(jq '[.. | objects | select(.name == "block 5, 3, 0")] | length' trace.json)" -eq 2
check "spans end" test "$(jq '[.. | objects | select(.ph == "e" and .cat == "block")] | length' trace.json)" -eq 50
counted=$(jq '[.total | to_entries[] | select(.key | test("^simt\\.[0-9]+\\.scheduler\\.[0-9]+\\.memory$")).value] | add' stats.json)
shown=$(jq '[.. | objects | select(.name == "stalls in percent") | .args.memory] | add * 10 * 1.4 * 2 | floor' trace.json)
check "stalls in windows: $shown clocks of $counted" test $((100 * shown)) -ge $((95 * counted)) -a $((95 * shown)) -le $((100 * counted))
check "no window loses more than all" test "$(jq '[.. | objects | select(.name == "stalls in percent") | [.args[]] | add] | max' trace.json)" -le 103

# Figures of kernels.
fact() { jq ".run[\"kernel.$1\"]" stats.json; }
"$croft" run -m gpu --stats stats.json ./views >output 2>errors
check "launches" test "$(fact scale.launches)" -eq 2
check "a multiply-add is two operations" test "$(fact scale.flops)" -eq $((2 * 2 * 24 * 64))
check "none" test "$(fact count.flops)" -eq 0
check "instructions of both" test $(($(fact scale.thread_instructions) + $(fact count.thread_instructions))) -eq \
    "$(jq '.total["simt.thread_instructions"]' stats.json)"
check "times of both" test $(($(fact scale.time) + $(fact count.time))) -le "$(jq '.total["simt.busy"]' stats.json)"
check "causes add up" test "$(jq '[.run | to_entries[] | select(.key | test("^kernel\\..*\\.scheduler\\.")).value] | add' stats.json)" -eq \
    "$(jq '[.total | to_entries[] | select(.key | test("^simt\\.[0-9]+\\.cycles$")).value] | add * 2' stats.json)"
# 15 multiprocessors, 2 schedulers, 32 lanes, 2 operations each clock of 1.4 GHz; 6 channels of 64 bits at 4 Gb/s.
check "the peak of operations" test "$(jq '.run["roofline.flops_per_second"]' stats.json)" -eq 2688000000000
check "the peak of bytes" test "$(jq '.run["roofline.bytes_per_second"]' stats.json)" -eq 192000000000

# The log of a chosen warp. On a machine without multiprocessors the host runs the threads one after another, so its log of
# the kernel's multiply-add and store has those of warp 1 in block 2 of the first launch at places 160 to 191.
"$croft" run --log commit:host.log ./views >output 2>errors
pc=$("$croft" disasm views | awk '/fmadd\.s/ { sub(/:.*/, "", $1); print $1; exit }')
# lines FILE: pc, instruction and effects of the multiply-adds and of the next instruction that stores.
lines() { grep -A 40 "0x0*$pc " "$1" | awk -v pc="$pc" 'index($0, pc " ") || / mem 0x[0-9a-f]* 0x/' | sed 's/^core *[0-9]*: //'; }
lines host.log | awk -v pc="$pc" 'index($0, pc " ") { n++; show = n > 160 && n <= 192 } show && index($0, pc " ")' >wanted
for options in "--set simt.count=2" "-m gpu" "-m gpu --env kernel"; do
    # shellcheck disable=SC2086
    "$croft" run $options --log commit:warp.log --warp 1.2.1 ./views >output 2>errors
    check "$options: a warp's log" test -s wanted -a -z "$(diff <(lines warp.log | grep "$pc ") wanted)"
    check "$options: the lanes" test "$(awk '{ print $2 }' warp.log | sort -u | wc -l)" -eq 32
    # Each of 32 threads loads its 4 bytes of `from`, and stores them to `to`: thread 160 + lane.
    check "$options: stores" test "$(grep -c "$(printf 'mem 0x%016x ' $((to + 4 * (160 + 31))))" warp.log)" -eq 1
done
"$croft" run -m gpu --log insn:warp.log --warp 3.1.0 ./views >output 2>errors
check "instructions by name" test "$(grep -c amoadd.w warp.log)" -eq 32
"$croft" run -m gpu --log insn:warp.log --warp 4.0.0 ./views >output 2>errors
check "no such warp" grep -q "the program has not launched this warp" errors
for options in "--warp 1.0.0" "--log insn --warp 0.0.0" "--log insn --warp 1.0" "--log insn --warp 1.0.0x"; do
    # shellcheck disable=SC2086
    "$croft" run -m gpu $options ./views >output 2>errors
    check "$options: status 2" test $? -eq 2
done
conclude
