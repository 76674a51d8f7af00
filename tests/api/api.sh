#!/bin/bash
# libundercroft as others use it: api.sh PKGCONFIG CROFT EXAMPLES PYTHON (the folder of undercroft.pc, croft, the examples, and
# the folder of undercroft.py). Compiles and runs the examples in C and C++, against the shared and the static library; Python
# by ctypes; what the library exports and needs. CROFT_SYSROOT: a DESTDIR. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
arguments "PKGCONFIG CROFT EXAMPLES PYTHON" $#
PKG_CONFIG_PATH=$(realpath "$1")
export PKG_CONFIG_PATH
croft=$(realpath "$2")
examples=$(realpath "$3")
python=$(realpath "$4")
if [ -n "${CROFT_SYSROOT:-}" ]; then export PKG_CONFIG_SYSROOT_DIR=$CROFT_SYSROOT; fi
scratch
cd "$work" || exit 1

evidence() {
    cat errors output 2>/dev/null
}

# flags OPTION...: what pkg-config says.
flags() {
    pkg-config "$@" undercroft
}

# variable NAME: a variable of undercroft.pc, below the DESTDIR.
variable() {
    local value
    value=$(pkg-config --variable="$1" undercroft)
    if [[ $value == "${CROFT_SYSROOT:-}"* ]]; then echo "$value"; else echo "${CROFT_SYSROOT:-}$value"; fi
}
library=$(variable libdir)
if [ -z "${CROFT_SYSROOT:-}" ]; then
    mkdir -p other/lib/pkgconfig
    cp "$PKG_CONFIG_PATH/undercroft.pc" other/lib/pkgconfig
    check "a copied build folder has its own library" \
        test "$(realpath -m "$(PKG_CONFIG_PATH=other/lib/pkgconfig pkg-config --variable=libdir undercroft)")" = "$(realpath other/lib)"
fi

# builds NAME COMPILER SOURCE OPTIONS...: against the shared library.
builds() {
    local name=$1 compiler=$2 source=$3
    shift 3
    # shellcheck disable=SC2046 # flags are words
    "$compiler" "$@" -O1 -Wall -Wextra -Werror $(flags --cflags) "$source" $(flags --libs) -Wl,-rpath,"$library" -pthread -o "$name" 2>errors
    check "$name: builds" test $? = 0
}

# runs NAME COMMAND...: leaves what it prints in output.
runs() {
    local name=$1
    shift
    timeout 60 "$@" >output 2>errors
    check "$name: runs" test $? = 0 -a ! -s errors
}

trace=$examples/dram/copy.trace
builds memory cc "$examples/api/memory.c" -std=c17
runs memory ./memory ddr3_1600k "$trace"
cp output expected
# The mean of croft dram over the reads, and a clock for each write.
"$croft" dram ddr3_1600k "$trace" --stats stats.json >/dev/null
mean=$(jq -r '(.total["dram.read_latency"] + 64 * 1250000) / 128 / 1e6' stats.json)
check "memory: as croft dram" grep -qF "128 accesses, $(printf %.3f "$mean") ns on average, $(jq -r '.total["dram.row_hits"]' stats.json) bursts" output
builds memory_cpp c++ "$examples/api/memory.cpp" -std=c++17
runs memory_cpp ./memory_cpp ddr3_1600k "$trace"
check "C++: as C" cmp -s expected output
builds memory_cpp11 c++ "$examples/api/memory.cpp" -std=c++11
timeout 60 ./memory_cpp ddr3 "$trace" >output 2>errors
check "C++: an error is an exception" grep -q "unknown memory 'ddr3'" errors
builds together cc "$examples/api/together.c" -std=c17
runs together ./together
check "together: all lines arrive, some are refused" grep -qE '^3000 lines in [0-9.]+ us, [0-9.]+ ns on average; the memory refused [1-9][0-9]* requests$' output
cp output expected
runs "together again" ./together
check "together: the same again" cmp -s expected output

# A machine: as croft run, in slices of 100 us.
cat >program.c <<'X'
#include <stdio.h>
volatile unsigned long cell = 0x1234;
int main(int argc, char **argv)
{
    unsigned long sum = 0;
    for (unsigned i = 0; i < 100000; i++) sum = sum * 31 + i * cell;
    printf("%d %s %lx\n", argc, argv[argc - 1], sum);
    fprintf(stderr, "complains\n");
    if (argc > 2) *(volatile int *)16 = 1;
    cell = sum;
    return 7;
}
X
"$croft" cc -O1 program.c -o program >errors 2>&1
check "a program" test $? = 0
printf 'int main(void) { return 0; }\n' >linux.c
riscv64-linux-gnu-gcc -static linux.c -o linux 2>errors
builds machine cc "$examples/api/machine.c" -std=c17
for name in functional ddr3 nucd; do
    ./machine "$name" ./program printed one >output 2>errors
    check "$name: status" test $? = 7
    check "$name: silent" test ! -s errors
    "$croft" run -m "$name" --stats stats.json ./program one >expected 2>/dev/null
    check "$name: the program's output" cmp -s expected printed
    for statistic in sim.time hart.0.instructions dram.reads; do
        value=$(jq -r --arg name "$statistic" '.total[$name] // empty' stats.json)
        check "$name: $statistic" grep -q "^${value:+$statistic $value }" output
    done
done
check "nucd: slices" grep -q '^100 us: pc 0x' output
# A callback cannot let the machine run.
cat >inside.c <<'C'
#include <stdio.h>
#include <undercroft.h>
static int status, calls;
static int each(void *context, const struct undercroft_statistic *statistic)
{
    (void)statistic;
    status = undercroft_machine_run(context, 1000, NULL);
    calls++;
    return 0;
}
int main(void)
{
    struct undercroft *machine;
    const struct undercroft_source source = {.size = sizeof source, .file = "ddr3"};
    const struct undercroft_program program = {.size = sizeof program, .program = "./program"};
    if (undercroft_machine_new(&machine, &source, &program, NULL) != UNDERCROFT_OK ||
        undercroft_statistics(machine, each, machine, NULL) != UNDERCROFT_OK)
        return 1;
    printf("%d\n", calls > 1 ? status : 0);
    return undercroft_free(machine, NULL);
}
C
builds inside cc inside.c -std=c17
./inside >output 2>>errors
check "a callback cannot run the machine" grep -qx -- -5 output

./machine ddr3 ./program printed one two >output 2>errors
check "a fault: status" test $? = 139
check "a fault: its message is a value" grep -q 'store of 4 bytes to 0x10' output
check "a fault: nothing is printed" test ! -s errors

# Launches that wait for room, and for their end, go on behind a pause; pauses take no time.
cat >launches.c <<'X'
#include <croft/simt.h>
#include <stdio.h>
static void add(void *argument)
{
    unsigned *sum = argument;
    for (unsigned i = 0; i < 200; i++) __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
}
int main(void)
{
    static unsigned sum;
    for (unsigned i = 0; i < 40; i++)
        if (simt_launch(add, &sum, simt_dim(16), simt_dim(32)) < 0) return perror("launch"), 1;
    if (simt_wait(0) != 0) return perror("wait"), 1;
    printf("%u\n", sum);
    return 0;
}
X
"$croft" cc -O1 launches.c -o launches >errors 2>&1
check "launches: builds" test $? = 0
"$croft" run -m gpu --set simt.count=1 --stats stats.json ./launches >expected 2>errors
cat >launches.py <<'X'
import sys, undercroft
with undercroft.Machine("gpu", "./launches", sets={"simt.count": 1}, output="printed") as machine:
    while machine.status is None:
        machine.run(machine.now + 20 * 10**9)
    print(machine.status, machine.statistic("sim.time"))
X
PYTHONPATH=$python runs launches python3 launches.py
check "launches: status and time" test "$(cat output)" = "0 $(jq '.total["sim.time"]' stats.json)"
check "launches: as croft run" cmp -s expected printed

# The static library: of its own names, it has those of the header alone.
# shellcheck disable=SC2046 # flags are words
cc -std=c17 $(flags --cflags) "$examples/api/memory.c" "$library/libundercroft.a" $(flags --static --libs | sed 's/-lundercroft//') -o static 2>errors
check "static: builds" test $? = 0
runs static ./static ddr3_1600k "$trace"
check "static: needs no shared one" test -z "$(ldd static | grep undercroft)"
nm --defined-only --extern-only "$library/libundercroft.a" | awk 'NF == 3 { print $3 }' | grep -v '^undercroft_' >output
check "static: names" test ! -s output
nm -D --defined-only "$library/libundercroft.so.1" | awk '{ print $3 }' | grep -v '^undercroft_.*@@UNDERCROFT_[0-9]*$\|^UNDERCROFT_[0-9]*$' >output
check "shared: names and versions" test ! -s output
sed -nE 's/^(int|uint32_t) (undercroft_[a-z_]*)\(.*/\2/p' "$(variable includedir)/undercroft.h" | sort >declared
nm -D --defined-only "$library/libundercroft.so.1" | sed -nE 's/.* T (undercroft_[a-z_]*)@@.*/\1/p' | sort | diff declared - >output
check "shared: what the header declares" test ! -s output -a -s declared

# The header alone, in both languages, without extensions.
printf '#include <undercroft.h>\nint main(void) { return (int)undercroft_version() != UNDERCROFT_VERSION; }\n' >version.c
cp version.c version.cpp
builds version_c cc version.c -std=c99 -pedantic-errors
builds version_cpp c++ version.cpp -std=c++98 -pedantic-errors -Wno-long-long
runs version ./version_c

# Python: the numbers of croft dram; errors; what a callback raises.
export PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1
runs sweep python3 "$examples/api/sweep.py" ddr3_1600k "$trace"
"$croft" dram ddr3_1600k "$trace" >expected
check "sweep: as croft dram" grep -q "^open     32 entries: *$(awk '/^bandwidth/ { print $2 }' expected) GB/s, reads *$(awk '/^reads/ { print $2 }' expected) ns" output
check "sweep: four rows" test "$(wc -l <output)" = 4
cat >calls.py <<'X'
import undercroft
from undercroft import Error, Memory, Network

def refused(status, text, call, *arguments, **more):
    try:
        call(*arguments, **more)
    except Error as error:
        assert error.status == status and text in str(error), (error.status, str(error))
    else:
        assert False, text

seen = []
with Memory("ddr3_1600k", lambda tag, now: seen.append((tag, now))) as memory:
    assert memory.size == 4 << 30 and memory.period == 1250000 and memory.next == undercroft.FOREVER
    assert memory.request(False, 0, tag=7) and memory.outstanding == 1
    memory.run()
    assert seen == [(7, 26 * 1250000)] and memory.now == seen[0][1], seen
    refused(-4, "backwards", memory.run, 0)
    refused(-1, "0 bytes", memory.request, False, 0, 0)
    refused(-6, "no statistic", memory.statistic, "x")
    assert memory.statistics()["dram.reads"] == memory.statistic("dram.reads") == 1
refused(-2, "NULL", memory.run)
refused(-3, "description:1", Memory, "dram: {standard: x}", print)

def fails(tag, now):
    raise KeyError(tag)

with Memory("hbm1", fails) as memory:
    memory.request(True, 0, tag=3)
    try:
        memory.run()
        assert False
    except KeyError as error:
        assert error.args == (3,)

arrived = []
def deliver(tag, source, destination, flits, message_class, now):
    arrived.append((tag, source, destination, flits, message_class))
    return True

with Network("network: {topology: mesh, size: 2x2, wires: on_chip}", deliver, 4) as network:
    assert network.nodes == 4 and network.send(0, 3, 2, tag=9)
    network.run()
    assert arrived == [(9, 0, 3, 2, 0)], arrived
import subprocess
def machine(description="ddr3", program="./program", **more):
    return undercroft.Machine(description, program, **more)

with machine() as one, machine("extends: ddr3\nhost.clock: 1 GHz\n") as other:
    while one.status is None or other.status is None:
        one.run(one.now + 50 * 10**9)
        other.run(other.now + 70 * 10**9)
    assert (one.status, other.status) == (7, 7) and one.instructions == other.instructions > 100000
    assert other.statistic("sim.time") > one.statistic("sim.time")
    names = subprocess.run(["riscv64-unknown-elf-nm", "program"], capture_output=True, text=True, check=True).stdout
    cell = next(int(line.split()[0], 16) for line in names.splitlines() if line.endswith(" cell"))
    assert one.read(cell, 8) == other.read(cell, 8) != bytes(8)
    refused(-1, "not all in the machine's memory", one.read, 0, 8)
    refused(-1, "hart 1;", one.register, 0, 1)
    refused(-1, "register 65", one.register, 65)
    refused(-4, "backwards", one.run, 0)
with machine("functional") as stepped:
    stepped.execute(1000)
    assert stepped.instructions == 1000 and stepped.now == 1000 * 10**6
    stepped.step()
    assert stepped.instructions == 1001 and stepped.register(0) == 0 and stepped.pc >= 0x80000000
    stepped.run(2000 * 10**6)
    assert stepped.instructions == 2000
    stepped.write(cell, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
    stepped.run()
    assert stepped.status == 7
    refused(-2, "that of a machine", Memory.request, stepped, False, 0)
refused(-7, "No such file", machine, "ddr3", "./nothing")
refused(-7, "calls.py", machine, "ddr3", "./calls.py")
refused(-7, "Linux", machine, "ddr3", "./linux")
refused(-3, "unknown machine 'ddr33'", machine, "ddr33")
refused(-3, "description:2: ", machine, "extends: ddr3\nhost.clok: 1\n")
refused(-3, "share", machine, share="/nonexistent")
refused(-7, "/nonexistent/file: cannot be opened", machine, output="/nonexistent/file")
rows = undercroft.sweep("hbm1", [("R", 64 * i) for i in range(50)], {"dram.tCL": ["14 ns", "20 ns"]})
rows = rows if isinstance(rows, list) else rows.to_dict("records")
assert [row["dram.tCL"] for row in rows] == ["14 ns", "20 ns"]
assert abs(rows[1]["latency"] - rows[0]["latency"] - 6e6) < 1, rows
X
runs "calls" python3 calls.py
# A frame where pandas is there, which may be a stand-in.
mkdir stand_in
printf 'class DataFrame(list):\n    def to_dict(self, kind):\n        return list(self)\n' >stand_in/pandas.py
PYTHONPATH=$python:stand_in runs "calls with pandas" python3 calls.py
conclude
