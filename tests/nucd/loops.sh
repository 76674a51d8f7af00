#!/bin/bash
# croft cc -foffload-loops: loops.sh CROFT. Which loops become tasks and why others do not; programs give the results that the same
# sources, compiled without the option, give under qemu-riscv64; and tasks access nothing that their nucds do not declare
# (--check nucd watches each access). SEEDS="1 2" are those of random programs; ALL=1 tries more nests.
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages
    diff expected found
}

# compiled NAME SOURCE OPTIONS...: compiles it to NAME, its oracle to NAME-plain, and runs that.
compiled() {
    local name=$1 source=$2
    shift 2
    "$croft" cc -w -fno-strict-aliasing "$@" "$source" -o "$name-plain" >messages 2>&1
    judge $? "$name: compiled without the option"
    "$croft" cc -w -fno-strict-aliasing "$@" -foffload-loops -foffload-least=64 -foffload-report=report "$source" -o "$name" >messages 2>&1
    judge $? "$name: compiled"
    oracle expected "./$name-plain"
    oracle found "./$name"
    check "$name: qemu-riscv64" cmp -s expected found
}

# runs NAME OPTIONS...: it prints the same, and croft has no complaints.
runs() {
    local name=$1
    shift
    "$croft" run "$@" "./$name" >found 2>messages
    check "$name $*" cmp -s expected found
    check "$name $*: no messages" test ! -s messages
}

# offloads FILE: the number of tasks.
offloads() {
    sed -n '/"total"/,$p' "$1" | sed -n 's/.*"nucd.offloads": \([0-9]*\),*$/\1/p' | head -n 1
}

compiled loops "$here/programs/loops.c" -O2
runs loops -m functional
runs loops -m nucd --check nucd --stats stats
check "loops: tasks" test "$(offloads stats)" -gt 150
runs loops -m nucd --set nucd.mode=none
runs loops -m nucd --set nucd.mode=driver --env kernel
runs loops -m nucd --set nucd.mode=ideal --set nucd.retire=checkpoint

# The reasons, by functions: the report has source lines, loops.c has functions.
function_of() {
    awk -v line="$1" '/^SEPARATE/ { name = $0; sub(/\(.*/, "", name); sub(/.* \**/, "", name) } /^}/ { name = "" } NR == line { print name; exit }' "$here/programs/loops.c"
}
while IFS=: read -r file line text; do
    case $file in */loops.c) ;; *) continue ;; esac
    name=$(function_of "$line")
    case "$name:$text" in
    take_*" becomes tasks"* | take_*"around it becomes"*) pass ;;
    leave_*" does not become tasks: "*) pass ;;
    take_* | leave_*) fail "$name: $text" ;;
    esac
done <report
check "reasons: all functions" test "$(grep -c 'loops\.c' report)" -ge 15
while read -r regex; do
    check "report: $regex" grep -qE "$regex" report
done <<'END'
register fa[0-9] carries a value from round to round
data decide where it stores
its only exit: (it has [2-9] exits|it has none|its rounds end in [2-9] places|code of the round)|its number of rounds is not known when it begins
carries a value from round to round|rounds access what other rounds store
the address of its load is not known: it depends on what the loop loads
it has an assembler statement
it accesses a volatile object
all rounds store to the same place
END

# Nests of loops: several registers that step, triangular bounds, arrays that overlap. The small ones run on the machine, too.
compiled nests "$here/programs/nests.c" -O2
runs nests -m nucd --check nucd --stats stats
check "nests: tasks" test "$(offloads stats)" -gt 3000
runs nests -m nucd --set nucd.mode=driver --env kernel
sed -n 's/.*nests\.c:\([0-9]*: loop becomes\)/\1/p' report >nests.report
while read -r function; do
    line=$(awk -v name="$function(" 'index($0, name) { there = 1 } there && /^    for/ { print NR; exit }' "$here/programs/nests.c")
    check "nests: $function becomes tasks" grep -q "^$line: loop becomes tasks" nests.report
done < <(sed -n 's/^SEPARATE static void \(take_[a-z_]*\)(.*/\1/p' "$here/programs/nests.c")
for options in "-O1" "-O3" "-Os" "-O2 -march=rv64gc_zba_zbb_zbs"; do
    # shellcheck disable=SC2086 # several words
    compiled "nests${options// /}" "$here/programs/nests.c" $options
done

# Nests whose rounds add to arrays, or store to columns: rows, then slices.
for options in "-O1" "-O3" "-Os -march=rv64gc_zba_zbb_zbs" "-O2"; do
    # shellcheck disable=SC2086 # several words
    compiled "slices${options// /}" "$here/programs/slices.c" $options
done
runs slices-O2 -m nucd --check nucd --stats stats
check "slices: tasks" test "$(offloads stats)" -gt 3000
runs slices-O2 -m nucd --check coherence
runs slices-O2 -m nucd --set nucd.mode=driver --env kernel
sed -n 's/.*slices\.c:\([0-9]*: loop becomes\)/\1/p' report >nests.report
while read -r function; do
    line=$(awk -v name="$function(" 'index($0, name) { there = 1 } there && /^    for/ { print NR; exit }' "$here/programs/slices.c")
    check "slices: $function becomes tasks" grep -q "^$line: loop becomes tasks.*in slices" nests.report
done < <(sed -n 's/^SEPARATE static void \(take_[a-z_]*\)(.*/\1/p' "$here/programs/slices.c")

# With fewer registers, the compiler spills some in nests: tasks have places of their own for them.
compiled nests-spilled "$here/programs/nests.c" -O2 -ffixed-s8 -ffixed-s9 -ffixed-s10 -ffixed-s11
runs nests-spilled -m nucd --check nucd
line=$(awk '/take_spilled\(/ { there = 1 } there && /^    for/ { print NR; exit }' "$here/programs/nests.c")
check "nests: spilled values" grep -q "nests.c:$line: loop becomes tasks" report

# Rows of a triangle, each times columns: the accelerators have equal shares, and prefetch columns.
cat >triangle.c <<'C'
enum { N = 240, M = 50 };
static _Alignas(64) double c[N][256], a[N][M], b[N][M];
__attribute__((noipa)) static void triangle(int n, double (*c)[256], double (*a)[M], double (*b)[M])
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < M; k++)
            for (int j = 0; j <= i; j++)
                c[i][j] += a[i][k] * b[j][k];
}
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            a[i][j] = b[i][j] = i % 7 + j % 3;
    triangle(N, c, a, b);
    return c[N - 1][N - 2] == 0;
}
C
# facts FILE NAME: this statistic of all accelerators, as a list.
facts() {
    jq --arg name "$2" '.total | [to_entries[] | select(.key | test("^accel[.][0-9]+[.]" + $name + "$")) | .value]' "$1"
}
# within VALUE LIMIT: it is positive, and less.
within() {
    awk -v value="$1" -v limit="$2" 'BEGIN { exit !(value > 0 && value < limit) }'
}
for ahead in 0 4; do
    "$croft" cc -O2 -foffload-loops "-foffload-ahead=$ahead" triangle.c -o triangle || exit 1
    "$croft" run -m nucd --stats "ahead-$ahead" ./triangle
    judge $? "triangle, prefetches $ahead rounds ahead"
done
share=$(facts ahead-4 cycles | jq 'max / (add / length)')
check "triangle: the longest share is $share of the mean" within "$share" 1.1
misses=$(facts ahead-0 l1d.misses | jq add)
left=$(facts ahead-4 l1d.misses | jq add)
check "triangle: $left of $misses misses with prefetches" within "$left" "$((misses / 4))"

# A sum in memory: tasks store it once.
cat >product.c <<'C'
enum { N = 96, M = 50 };
static _Alignas(64) double c[N][N], a[N][M], b[N][M];
__attribute__((noipa)) static void product(double (*c)[N], double (*a)[M], double (*b)[M], int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < M; k++)
                c[i][j] += a[i][k] * b[j][k];
}
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < M; j++)
            a[i][j] = b[i][j] = (i + j) % 5;
    product(c, a, b, N);
    return c[N - 1][N - 2] == 0;
}
C
"$croft" cc -O2 -foffload-loops product.c -o product || exit 1
"$croft" run -m nucd --check nucd --stats product.stats ./product
judge $? "product"
stores=$(facts product.stats l1d.stores | jq add)
check "product: $stores stores for 9,216 sums of 50" within "$stores" 25000

# Rounds that need no result of each other: tasks interleave four. A round has 4 instructions and a quarter of 3, of which 3 access memory,
# one a clock; one after the other, a load (3 clocks), a fused multiplication (8) and a store follow each other.
cat >rank.c <<'C'
enum { N = 96 };
static _Alignas(64) double c[N][N], a[N][N], b[N][N];
__attribute__((noipa)) static void update(double (*c)[N], double (*a)[N], double (*b)[N], int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i][j] += a[i][k] * b[k][j];
}
int main(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = b[i][j] = (i + j) % 5;
    update(c, a, b, N);
    return c[N - 1][N - 2] == 0;
}
C
"$croft" cc -O2 -foffload-loops rank.c -o rank || exit 1
"$croft" run -m nucd --check nucd --stats rank.stats ./rank
judge $? "rank"
clocks=$(facts rank.stats cycles | jq add)
check "rank: $clocks clocks for 884,736 rounds" within "$clocks" $((884736 * 7))

# Random programs.
"${CC:-gcc}" -O1 "$here/programs/loops_random.c" -o generate || exit 1
options=("-O2" "-O3 -g" "-Os -march=rv64gc_zba_zbb_zbs" "-O1 -ffunction-sections")
for seed in ${SEEDS:-1 2}; do
    ./generate "$seed" 20 >random.c
    # shellcheck disable=SC2086 # several words
    compiled "random-$seed" random.c ${options[seed % 4]}
    runs "random-$seed" -m nucd --check nucd --stats stats
    check "random-$seed: tasks" test "$(offloads stats)" -gt 40
    runs "random-$seed" -m nucd --set nucd.mode=driver --env kernel
done

# Random nests: 200, with ALL=1 2,000; a third each with fewer registers, so that values are spilled.
fewer=("" "-ffixed-s7 -ffixed-s8 -ffixed-s9 -ffixed-s10 -ffixed-s11" "-ffixed-t4 -ffixed-t5 -ffixed-s10 -ffixed-s11")
"${CC:-gcc}" -O1 "$here/programs/nests_random.c" -o generate_nests || exit 1
# In 125, a nest's limit would also be a register of the launch, which its tasks do not preserve.
for seed in $(seq 1 "$([ -n "${ALL:-}" ] && echo 100 || echo 10)") 125; do
    ./generate_nests "$seed" 20 >nests.c
    # shellcheck disable=SC2086 # several words
    compiled "nests-$seed" nests.c ${options[seed % 4]} ${fewer[seed % 3]}
    runs "nests-$seed" -m nucd --check nucd --stats stats
    check "nests-$seed: tasks" test "$(offloads stats)" -gt 20
done

# Innermost loops that store along a row, near what they load: rounds are interleaved.
for seed in $(seq 1 "$([ -n "${ALL:-}" ] && echo 60 || echo 4)"); do
    ./generate_nests "$seed" 20 inner >inner.c
    # shellcheck disable=SC2086 # several words
    compiled "inner-$seed" inner.c ${options[seed % 4]} ${fewer[seed % 3]}
    runs "inner-$seed" -m nucd --check nucd --stats stats
    check "inner-$seed: tasks" test "$(offloads stats)" -gt 20
done

# Rounds that store to columns, or to the same places. Of these seeds, some nests become tasks in slices.
for seed in $([ -n "${ALL:-}" ] && seq 1 60 || echo 7 8 11 12); do
    ./generate_nests "$seed" 20 columns >columns.c
    # shellcheck disable=SC2086 # several words
    compiled "columns-$seed" columns.c ${options[seed % 4]} ${fewer[seed % 3]}
    runs "columns-$seed" -m nucd --check nucd --stats stats
    check "columns-$seed: tasks" test "$(offloads stats)" -gt 20
    [ -n "${ALL:-}" ] || check "columns-$seed: slices" grep -q 'in slices' report
done

# Thread-local arrays, whose addresses loops compute from tp unless that is moved out of them.
cat >local.c <<'C'
#include <stdio.h>
_Thread_local long to[8192], from[8192];
__attribute__((noipa)) void copy(long n, long more)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i] + more;
}
__attribute__((noipa)) void scale(long n, long factor)
{
    for (long i = 0; i < n; i++)
        to[i] = to[i] * factor;
}
int main(void)
{
    long sum = 0;
    for (long i = 0; i < 8192; i++)
        from[i] = i;
    copy(8192, 3);
    scale(8192, 5);
    for (long i = 0; i < 8192; i++)
        sum += to[i] * (i % 7);
    printf("%ld\n", sum);
}
C
compiled local local.c -O1
runs local -m nucd --check nucd --stats stats
check "local: tasks" test "$(offloads stats)" -gt 30
compiled local-tp local.c -O1 -fno-tree-loop-im -fno-move-loop-invariants -fno-ivopts -fno-tree-loop-optimize
runs local-tp -m nucd --check nucd
check "local-tp: no launch has tp" test "$(riscv64-unknown-elf-objdump -d --disassemble=scale -M numeric local-tp | grep -cE '\bsub\s+x4,|\bmv\s+x4,')" -eq 0

# Several sources, objects, assembler, dependencies.
printf 'void fill(double *to, long n)\n{\n    for (long i = 0; i < n; i++)\n        to[i] = (double)(i * 3);\n}\n' >fill.c
printf '#include <stdio.h>\nvoid fill(double *, long);\ndouble x[5000];\nint main(void)\n{\n    fill(x, 5000);\n    printf("%%g\\n", x[4999]);\n}\n' >main.c
echo 14997 >expected
"$croft" cc -O2 -foffload-loops main.c fill.c -o both && runs both -m nucd --stats stats
check "two sources: tasks" test "$(offloads stats)" -gt 10
# A task writes 32,704 bytes at most; each of the 16 accelerators gets as many tasks of more than 16 times that.
sed 's/5000/131072/g; s/4999/131071/' main.c >long.c
echo 393213 >expected
"$croft" cc -O2 -foffload-loops long.c fill.c -o long && runs long -m nucd --stats stats
check "a long array: tasks" test "$(offloads stats)" -eq 48
echo 14997 >expected
# Static arrays of the same name in two sources are two arrays.
printf 'static double x[5000];\ndouble other(long n)\n{\n    for (long i = 0; i < n; i++)\n        x[i] = (double)(i * 5);\n    return x[n - 1];\n}\n' >other.c
printf '#include <stdio.h>\nstatic double x[5000];\ndouble other(long);\nint main(void)\n{\n    for (long i = 0; i < 5000; i++)\n        x[i] = (double)(i * 3);\n    double there = other(5000);\n    printf("%%g %%g\\n", x[4999], there);\n}\n' >own.c
echo 14997 24995 >expected
"$croft" cc -O2 -foffload-loops own.c other.c -o statics && runs statics -m nucd --stats stats
check "static arrays: tasks" test "$(offloads stats)" -gt 10
echo 14997 >expected
rm -f fill.o fill.d
"$croft" cc -O2 -foffload-loops -MMD -c fill.c && "$croft" cc -O2 main.c fill.o -o parts && runs parts -m nucd --stats stats
check "an object: tasks" test "$(offloads stats)" -gt 10
check "dependencies" grep -q '^fill\.o: fill\.c' fill.d
"$croft" cc -O2 -foffload-loops -S fill.c -o fill.s && "$croft" cc fill.s main.c -o parts && runs parts -m functional
check "assembler: a launch" grep -q 'croft_loop_plan' fill.s
check "assembler: no debug information" test "$(grep -c 'debug_info\|\.loc' fill.s)" -eq 0
"$croft" cc -O2 -foffload-loops fill.c main.c -o first && "$croft" cc -O2 -foffload-loops fill.c main.c -o second
check "the same bytes" cmp -s first second
check "no temporary files" test -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'croft-cc.*' -newer fill.c -user "$(id -u)" -empty 2>/dev/null)"

# within_frame SOURCE TASKS [ARGUMENT]: contexts of that many tasks stay in the nest's frame.
within_frame() {
    "$croft" cc -O2 -foffload-loops="$2" -foffload-least=64 "$here/programs/$1.c" -o "$1" >messages 2>&1
    judge $? "$1, $2 tasks: compiled"
    "$croft" cc -O2 "$here/programs/$1.c" -o "$1-plain" >messages 2>&1
    oracle expected "./$1-plain" "${@:3}"
    "$croft" run -m functional "./$1" "${@:3}" >found 2>messages
    check "$1, $2 tasks" cmp -s expected found
    check "$1, $2 tasks: no messages" test ! -s messages
}
within_frame rows 128 131
within_frame rows 97 99
within_frame rows 1024 140
within_frame sums 16
within_frame sums 90

# refuses NAME STATUS REGEX OPTIONS...
refuses() {
    local name=$1 wanted=$2 regex=$3 status=0
    shift 3
    "$croft" cc "$@" >found 2>messages || status=$?
    check "$name: status $status" test "$status" -eq "$wanted"
    check "$name: message" grep -qE -e "$regex" messages
}
refuses "bare" 2 'is not for --bare' --bare -foffload-loops fill.c
refuses "tasks" 2 "-foffload-loops is '1'; it must be a number from 2 to 1024" -foffload-loops=1 fill.c
refuses "least" 2 "-foffload-least is 'x'; it must be a number" -foffload-least=x fill.c
refuses "lto" 1 'needs the assembler of each source' -O2 -flto -foffload-loops fill.c main.c -o x
refuses "report" 1 'none/report: No such file' -foffload-loops -foffload-report=none/report fill.c main.c -o x
printf 'int main(void) { return x; }\n' >wrong.c
refuses "an error" 1 "'x' undeclared" -foffload-loops wrong.c -o x
refuses "no such file" 1 'missing.c: No such file' -foffload-loops missing.c -o x
conclude
