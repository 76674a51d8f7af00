#!/bin/bash
# croft cc --offload: offload.sh CROFT SOURCES, the folder of the examples for multiprocessors. GNU objdump and readelf say where
# hints and tables are; the candidates are those that `croft candidates` finds without hints; programs print what they print without.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1") sources=$(realpath "$2")
scratch
cd "$work" || exit 1

# What identifies a candidate apart from addresses.
described() {
    "$croft" candidates --json "$1" | grep -vE '"(begin|end|program)"'
}

# Bytes of the table from OFFSET as a number: word FILE OFFSET SIZE.
word() {
    od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

for name in ${KERNELS:-libor kmeans stencil}; do
    "$croft" cc -O2 -g "$sources/$name.c" -lm -o plain >messages 2>&1
    judge $? "$name: compiled"
    "$croft" cc -O2 -g --offload "$sources/$name.c" -lm -o hinted >messages 2>&1
    judge $? "$name: compiled with hints"
    oracle expected ./plain
    oracle found ./hinted
    check "$name: qemu-riscv64" cmp -s expected found
    "$croft" run --set simt.count=2 ./hinted >found 2>messages
    check "$name: multiprocessors" cmp -s expected found
    described plain >one
    described hinted >two
    check "$name: the same candidates" cmp -s one two
    riscv64-unknown-elf-objcopy -O binary --only-section=.tom.candidates --set-section-flags .tom.candidates=alloc hinted table
    count=$(word table 12 4)
    check "$name: candidates" test "$count" -ge 1
    # A hint with the entry's number in front of each block, or, of a block that jumps back to its beginning, before its loop.
    riscv64-unknown-elf-objdump -d -M no-aliases,numeric hinted | sed -nE 's/^ *([0-9a-f]+):.*slti\s+x0,x0,([0-9]+)$/\1 \2/p' >hints
    # Blocks of the library have none.
    own=$("$croft" candidates --json hinted | grep -cE "\"source\": \".*($name\\.c|kernel\\.h|simt\\.h|simt_call\\.h):")
    check "$name: a hint for each of its own blocks, $own" test "$(wc -l <hints)" -eq "$own"
    check "$name: has blocks" test "$own" -ge 1
    while read -r pc id; do
        check "$name: hint $id is in front of its block" test $((0x$pc + 4)) -eq "$(word table $((16 + 64 * id)) 8)"
    done <hints
done

# A hint is executed when control enters a block from elsewhere, not in each round: three calls of a loop of 1,000 rounds. A
# jump leads to the loop, too.
cat >rounds.c <<'END'
#include <croft/simt.h>
#include <stdio.h>
int a[1003], b[1000];
__attribute__((noipa)) void add(int *to, const int *from, const int *end)
{
    if (to[5] > from[7]) {
        __asm__ volatile("nop");
        to += 2;
    } else {
        __asm__ volatile("fence");
        to++;
    }
    do
        *to += *from++ * 3;
    while (++to != end);
}
static void kernel(void *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++)
        add(a, b, a + 1000);
}
int main(void)
{
    for (int i = 0; i < 1000; i++)
        b[i] = i;
    simt_launch(kernel, NULL, simt_dim(1), simt_dim(1));
    simt_wait(0);
    printf("%d %d %d\n", a[1], a[2], a[999]);
}
END
for level in -O1 -O2; do
    "$croft" cc $level --offload rounds.c -o rounds
    begin=$(riscv64-unknown-elf-objdump -d --disassemble=add -M no-aliases,numeric rounds | sed -nE 's/^ *([0-9a-f]+):.*slti\s+x0,x0,[0-9]+$/\1/p' | tail -n 1)
    check "rounds $level: a hint" test "$(wc -w <<<"$begin")" -eq 1
    "$croft" run --log insn:log rounds >found
    check "rounds $level: result" test "$(cat found)" = "$(qemu-riscv64 rounds)"
    check "rounds $level: the hint is executed when the loop is entered" test "$(grep -c "0x0*$begin " log)" -eq 3
done

# Several sources and an object: the object's candidates are in the table, too, without hints.
printf 'void triple(int *x, const int *y, long n)\n{\n    for (long i = 0; i < n; i++)\n        x[i] = 3 * y[i];\n}\n' >triple.c
cat >main.c <<'END'
#include <croft/simt.h>
#include <stdio.h>
void triple(int *, const int *, long);
int x[100], y[100];
static void kernel(void *argument)
{
    triple(x, argument, 100);
}
int main(void)
{
    for (int i = 0; i < 100; i++)
        y[i] = i;
    simt_launch(kernel, y, simt_dim(1), simt_dim(1));
    simt_wait(0);
    printf("%d\n", x[99]);
}
END
"$croft" cc -O2 -c triple.c && "$croft" cc -O2 --offload main.c triple.o -o object && "$croft" cc -O2 --offload main.c triple.c -o sources
for program in object sources; do
    oracle found "./$program"
    check "$program" grep -qx 297 found
    riscv64-unknown-elf-objdump -d --disassemble=triple "$program" >code
    check "$program: hints" test "$(grep -c 'slti.*zero,zero' code)" -eq "$([ $program = sources ] && echo 1 || echo 0)"
    check "$program: table" test "$("$croft" candidates "$program" | grep -c ' triple ')" -eq 1
done

# With addresses of 4 bytes, the table is that of `croft candidates --address 4`: the scalar product's loop of 8 rounds is worth it, which
# needs 12 with 8 bytes.
"$croft" cc -O2 --offload -foffload-address=4 "$sources/scalar_product.c" -lm -o hinted
riscv64-unknown-elf-objcopy --remove-section=.tom.candidates hinted bare
"$croft" candidates --address 4 -o again bare >narrow
"$croft" candidates hinted >wide
for program in hinted again; do
    riscv64-unknown-elf-objcopy -O binary --only-section=.tom.candidates --set-section-flags .tom.candidates=alloc $program $program.table
done
check "addresses of 4 bytes: the table" cmp -s hinted.table again.table
check "addresses of 4 bytes: a condition" grep -q ' product .*>= 640$' narrow
check "addresses of 8 bytes: another one" grep -q ' product .*>= 1408$' wide

# So with registers that count as what they hold: 69 values, and 2 * (1 + 16) / 2 less a round: 5 rounds of 128.
"$croft" cc -O2 --offload -foffload-registers=held "$sources/scalar_product.c" -lm -o hinted
riscv64-unknown-elf-objcopy --remove-section=.tom.candidates hinted bare
"$croft" candidates --registers held -o again bare >narrow
for program in hinted again; do
    riscv64-unknown-elf-objcopy -O binary --only-section=.tom.candidates --set-section-flags .tom.candidates=alloc $program $program.table
done
check "registers by what they hold: the table" cmp -s hinted.table again.table
check "registers by what they hold: a condition" grep -q ' product .*>= 512$' narrow

# refuses NAME STATUS REGEX OPTIONS...
refuses() {
    local name=$1 wanted=$2 regex=$3 status=0
    shift 3
    "$croft" cc "$@" >found 2>messages || status=$?
    check "$name: status $status" test "$status" -eq "$wanted"
    check "$name: message" grep -qE -e "$regex" messages
}
refuses "-c" 1 'compile and link in one command' --offload -c main.c
refuses "-flto" 1 'compile and link in one command' --offload -flto main.c triple.c
refuses "both" 2 'cannot be combined' --offload -foffload-loops main.c triple.c
refuses "registers alone" 2 "-foffload-registers is for --offload" -foffload-registers=held main.c
refuses "registers" 2 "-foffload-registers is 'all'; it must be whole or held" --offload -foffload-registers=all main.c
refuses "addresses alone" 2 "-foffload-address is for --offload" -foffload-address=4 main.c
refuses "addresses" 2 "-foffload-address is '0'; it must be a number from 1 to 16" --offload -foffload-address=0 main.c
refuses "an error" 1 "undefined reference to .triple" --offload main.c -o x
conclude
