#!/bin/bash
# The mistakes that newcomers are most likely to make: mistakes.sh CROFT. Each must give one message that says what is wrong, where,
# and what to type instead, and the status of its kind. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
examples=$(realpath "$(dirname "$0")/../../examples")
croft=$(realpath "$1")
scratch
cd "$work" || exit 1

# mistake NAME STATUS TEXT... -- ARGUMENTS: croft ARGUMENTS ends with the status, and what it prints on standard error has each
# text (a regular expression).
mistake() {
    local name=$1 wanted=$2 status=0 texts=() text
    shift 2
    while [ "$1" != -- ]; do
        texts+=("$1")
        shift
    done
    shift
    timeout 120 "$croft" "$@" >output 2>errors </dev/null || status=$?
    check "$name: status $status" test "$status" -eq "$wanted"
    for text in "${texts[@]}"; do
        check "$name: $text" grep -qE -- "$text" errors
    done
}

evidence() {
    head -n 12 "$work/errors"
}

cp "$examples/hello.c" "$examples/cells.c" .
"$croft" cc -O2 hello.c -o hello
"$croft" cc -O2 -g cells.c -o cells
printf 'int main(void) { return 0; }\n' >source.c
cc source.c -o native
printf 'not a program\n' >text
check "nothing to complain of" "$croft" run hello

# The command line.
mistake "no run" 2 "unknown command 'hello'" "croft run hello" -- hello
mistake "a misspelt command" 2 "unknown command 'rnu'; did you mean 'run'" -- rnu hello
mistake "a misspelt option" 2 "unknown option '--machin'; did you mean '--machine'" -- run --machin nucd hello
mistake "no program" 2 "no program given" "croft run --help" -- run
mistake "an option that takes the program" 2 "no program given: 'hello' is the value of --stats" -- run --stats hello
mistake "an option behind the program" 0 "'-m nucd' behind the program belongs to the program; options of croft stand before it" -- run hello -m nucd
mistake "a misspelt environment" 2 "unknown environment 'usr'; did you mean 'user'" -- run --env usr hello
mistake "a misspelt kind of trace" 2 "unknown kind 'perfeto'; did you mean 'perfetto'\? Allowed: perfetto, konata, dram, nucd, memory" -- run -m nucd --trace perfeto hello
mistake "a misspelt check" 2 "unknown kind 'coherance'; did you mean 'coherence'\? Allowed: coherence, dram, nucd" -- run -m nucd --check coherance hello
mistake "a unit cut short" 2 "'1k' has the unknown unit 'k' \(did you mean 'KiB'\?\)" -- run --max-memory 1k hello
mistake "a time without unit" 2 "--max-time: '5' has no unit; write a time such as 13.75 ns" -- run -m nucd --max-time 5 hello
mistake "neither port nor path" 1 "--gdb: 'abc' is neither a port .* nor the path" "\./abc" -- run --gdb abc hello
check "--gdb abc: no file" test ! -e abc

mistake "an option of machine mode" 2 "^croft run: --signature: options of machine mode are for --env bare; this run has --env user or kernel" -- run --signature s hello
mistake "a misspelt option of croft cc" 2 "unknown option '-foffload-loop'; did you mean '-foffload-loops'\?" -- cc -O2 -foffload-loop cells.c -o none
mistake "an option of croft cc without its value" 2 "-foffload-least needs a value: -foffload-least=VALUE" -- cc -O2 -foffload-loops -foffload-least cells.c -o none
check "no program of it" test ! -e none
mistake "a report of a program" 1 "hello: line 1: not JSON.* a report is made of a folder of croft experiment, or of a file of croft run --stats" -- report hello
mistake "a key as an option" 2 "unknown option '--accel.count'; keys of machines are changed by --set accel.count=VALUE" -- run -m nucd --accel.count=3 hello
mistake "a key of a part that is counted away" 0 "accel.clock \(--set\) has no effect, because accel.count is 0" -- run -m nucd --set accel.count=0 --set accel.clock=2GHz hello
check "nothing about its other keys" test "$(grep -c warning errors)" = 1
mistake "the beginning of a key" 2 "unknown key 'host.l1'; did you mean 'host.l1i'\?" -- run -m nucd --set host.l1=3 hello
mistake "a key of another part" 2 "unknown key 'host.channels'; did you mean 'dram.channels'\?" -- run -m nucd --set host.channels=3 hello
mistake "the beginning of a standard" 2 "unknown memory 'ddr4'; did you mean 'ddr4_3200'\?" -- dram ddr4 text
# Files.
mistake "a misspelt program" 1 "helo: cannot open the program: No such file" "did you mean 'hello'" -- run helo
mistake "a program that is not compiled yet" 1 "croft cc -O2 source.c -o source" -- run source
mistake "a source" 1 "hello.c: is not an ELF file" "croft cc -O2 hello.c -o hello" -- run hello.c
mistake "the disassembly of a source" 1 "hello.c: is not an ELF file" "croft cc -O2 hello.c -o hello" -- disasm hello.c
mistake "candidates of a source" 1 "hello.c: is not an ELF file" "croft cc -O2 hello.c -o hello" -- candidates hello.c
printf '#include <vector>\nint main() { return (int)std::vector<int>().size(); }\n' >vector.cc
mistake "C++ as C" 1 "'vector.cc' is C\+\+, .*croft c\+\+ -static" -- cc -O2 vector.cc -o vector
mistake "a text" 1 "text: is not an ELF file" -- run text
mistake "a folder" 1 "is a directory; a program is an ELF file" -- run .
mistake "a program of this computer" 1 "native: is for ELF machine [0-9]+.*; only RISC-V" "build it with croft cc, or for Linux" -- run native
mistake "a user program in machine mode" 139 "hello is a program for --env user or kernel; croft cc --bare compiles for machine mode" -- run --env bare hello
mistake "no folder for files" 1 "--dir: cannot use 'nowhere' as the program's folder: No such file" -- run --dir nowhere hello
mistake "no folder for statistics" 1 "--stats: cannot write 'nowhere/x': No such file" -- run --stats nowhere/x hello

# Machines and their keys.
mistake "a misspelt machine" 2 "unknown machine 'nucdd'; did you mean 'nucd'" -- run -m nucdd hello
mistake "a shipped machine as a file" 2 "nucd.yaml: cannot be opened" "the shipped machine is 'nucd'" -- run -m nucd.yaml hello
mistake "a misspelt key" 2 "unknown key 'memory.siz'; did you mean 'memory.size'" -- run --set memory.siz=2GiB hello
mistake "a misspelt part" 2 "unknown key 'acel.count'; did you mean 'accel.count'" -- run -m nucd --set acel.count=4 hello
mistake "a misspelt key of a part that is not there" 2 "unknown key 'simt.cuont'; did you mean 'simt.count'" -- run --set simt.cuont=2 hello
mistake "a part that is not there" 2 "the machine has no crossbar; crossbar=default adds one" -- run --set "crossbar.width=8 B" hello
mistake "a key without value" 2 "--set 'accel.count': write NAME=VALUE, such as" -- run -m nucd --set accel.count hello
mistake "a size without unit" 2 "memory.size: '2' has no unit; write a size such as 32 KiB" -- run --set memory.size=2 hello
mistake "a size in decimal units" 2 "unknown unit 'GB' \(did you mean 'GiB'" -- run --set memory.size=2GB hello
mistake "a word for a number" 2 "accel.count: 'four' is not a whole number such as 16" -- run -m nucd --set accel.count=four hello
printf 'extends: nucd\naccel:\n  cuont: 4\n' >own.yaml
mistake "a misspelt key in a file" 2 "own.yaml:3: unknown key .*did you mean 'accel.count'" -- run -m own.yaml hello
printf 'extends: nucd\naccel:\n\tcount: 4\n' >tab.yaml
mistake "a tab in a file" 2 "tab.yaml:3:" -- run -m tab.yaml hello
printf 'extends: torus\n' >net.yaml
cp "$examples/net/torus.yaml" "$examples/net/booksim.yaml" .
mistake "a network's base without .yaml" 2 "net.yaml:1: extends: 'torus' is no path" "did you mean 'torus.yaml'" -- net net.yaml

# Machines that do not fit the program.
mistake "regions without -m" 0 "the host ran all regions, because machine 'functional' has no clock and no accelerators; .*-m nucd" -- run cells
mistake "regions on a machine without accelerators" 0 "no core of machine 'ddr3' can offload; .*-m nucd" -- run -m ddr3 cells
mistake "a trace without clock" 1 "machine 'functional' has no clock; .*such as nucd" -- run --trace perfetto hello
mistake "tasks' checks without accelerators" 1 "machine 'ddr3' has no accelerators that take tasks" -- run -m ddr3 --check nucd hello

# Programs.
cat >region.c <<'END'
#include <croft/nucd.h>
static long data[1000];
CROFT_REGION(work, CROFT_INOUT(long *, values)) { values[0]++; }
int main(void) { work(data); return 0; }
END
mistake "a range without bytes" 1 "region.c:3:.*work: CROFT_IN, CROFT_OUT and CROFT_INOUT need three arguments: type, name, bytes" -- cc -O2 region.c -o region
sed 's/CROFT_INOUT(long \*, values)/CROFT_VALUE(long *, values)/' region.c >value.c
"$croft" cc -O2 -g value.c -o value
mistake "a region without range" 3 "load of 8 bytes at 0x[0-9a-f]+, which the task's nucd does not name" "work_region.*value.c:3" "name the memory in an input range" \
    -- run -m nucd --check nucd value
cat >launch.c <<'END'
#include <croft/simt.h>
static long data[64];
static void add(const long *value) { data[thread_id()] += *value; }
int main(void)
{
    long one = 1;
    simt_launch(add, &one, simt_dim(1), simt_dim(64));
    return (int)data[0];
}
END
"$croft" cc -O2 launch.c -o launch
mistake "a launch without wait" 0 "launch did not wait for its last launch, .*simt_wait\(0\)" -- run -m gpu launch
sed 's/simt_launch.*/add(\&one);/' launch.c >call.c
"$croft" cc -O2 call.c -o call
mistake "a kernel without launch" 1 "call has no launch, .*multiprocessors of machine 'gpu' .*simt_launch\(\)" -- run -m gpu call
sed 's/return (int)data.*/return (int)(simt_wait(0) + data[0] - 1);/' launch.c >right.c
"$croft" cc -O2 right.c -o right
check "a launch with wait: no message" test "$("$croft" run -m gpu right 2>&1)" = ""
check "maps of a program without kernels" test "$("$croft" candidates --for stash hello 2>&1)" = \
    "0 maps replace 0 copies; 0 other copies have none (the program has no kernels: it does not call simt_launch())"
conclude
