#!/bin/bash
# Runs programs interpreted and compiled, and compares output, status, messages, files and statistics to the byte:
# programs.sh CROFT WORKDIR PROGRAM... Without ALL=1, a choice of the programs. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
croft=$(realpath "$1")
sources=$(realpath "$(dirname "$0")/../programs")
work=$(fresh "$2")
shift 2
chosen=" atomics bits dispatch jump math_float trap_load "

# run WAY JIT OPTIONS...: runs $program with its input; all that is to be compared goes to the folder WAY. The folders' names
# are equally long, since programs see them.
run() {
    local folder=$work/$1 status=0
    shift
    rm -rf "$folder"
    mkdir -p "$folder/files"
    (cd "$folder/files" && exec timeout 300 "$croft" run "$@" --stats ../stats "${environment[@]}" "$program" \
        "${arguments[@]}" <"$input" >../stdout 2>../stderr) || status=$?
    echo "$status" >"$folder/status"
    jq 'del(.host)' "$folder/stats" >"$folder/statistics" 2>/dev/null || :
    rm -f "$folder/stats"
}

same() {
    diff -r "$work/int" "$work/jit"
}

# both NAME OPTIONS...: interpreted and compiled, with these options.
both() {
    local name=$1
    shift
    run int --jit=off "$@"
    run jit --jit=always "$@"
    check "$name" same
}

programs=0 user=
for program; do
    program=$(realpath "$program")
    name=${program##*/}
    source=$sources/${name%%-*}
    case ${name%%-*} in nucd_* | simt_*) continue ;; esac
    [ -n "${ALL:-}" ] || [[ $chosen == *" ${name%%-*} "* ]] || continue
    arguments=() environment=() input=/dev/null
    [ ! -f "$source.args" ] || mapfile -t arguments <"$source.args"
    [ ! -f "$source.stdin" ] || input=$source.stdin
    if [ -f "$source.env" ]; then
        while IFS= read -r line; do environment+=(-E "$line"); done <"$source.env"
    fi
    programs=$((programs + 1))
    both "$name"
    if [ -n "${ALL:-}" ] || [[ $name == jump-* || $name == math_float-* ]]; then
        run jit --jit=check
        check "$name, each region beside steps" same
    fi
    [[ $name == jump-* ]] || continue
    user=$program
    for limit in 97 5001 54321; do both "$name, $limit instructions" --max-insns "$limit"; done
done
# refused NAME OPTION MESSAGE: the option is a usage error.
refused() {
    local status=0 text
    text=$("$croft" run "$2" "$program" 2>&1) || status=$?
    check "$1" [ "$status" -eq 2 ]
    check "$1, its message" grep -qF -- "$3" <<<"$text"
}
refused "an unknown way" --jit=alway "unknown --jit 'alway'; did you mean 'always'? Allowed: off, on, always, check"
refused "too little memory" --jit-memory=1KiB "--jit-memory: '1KiB' is not allowed; it must be 1 MiB to 1 GiB"

# warned NAME WHY OPTIONS...: croft says once why it compiles nothing, and the program runs.
warned() {
    local name=$1 why=$2 text
    shift 2
    text=$("$croft" run --jit=on "$@" "$program" 2>&1 >/dev/null) || :
    check "$name" [ "$(grep -cF "croft run: warning: --jit=on compiles nothing: $why" <<<"$text")" -eq 1 ]
    text=$("$croft" run --jit=off "$@" "$program" 2>&1 >/dev/null) || :
    check "$name, off" [ "$(grep -c "compiles nothing" <<<"$text")" -eq 0 ]
}
warned "a clock" "the machine has a clock" -m ddr3
text=$("$croft" run -m ddr3 "$program" 2>&1 >/dev/null) || :
check "a clock, by default" [ "$(grep -c "compiles nothing" <<<"$text")" -eq 0 ]
# Programs of Linux, in an address space of their own: signals, threads that take turns on one hart and on two, code that changes, pages
# without permission, and limits in the middle.
linux=$sources/../env/linux/programs
arguments=(argument)
environment=()
for name in code signals threads; do
    program=$work/$name
    riscv64-linux-gnu-gcc -std=gnu17 -O1 -static "$linux/$name.c" -o "$program"
    both "Linux: $name"
    run jit --jit=check
    check "Linux: $name, each region beside steps" same
done
both "Linux: threads on two harts" --set harts=2
both "Linux: threads, a short quantum" --set harts=2 --set quantum=997
program=$work/refused arguments=(100)
riscv64-linux-gnu-gcc -std=gnu17 -O2 -Wall -Werror -static "$linux/refused.c" -o "$program"
run int --jit=off
check "Linux: accesses that fault, as under qemu-riscv64" [ "$(cat "$work/int/stdout")" = "$(qemu-riscv64 "$program" 100)" ]
for way in on always check; do
    run jit --jit=$way
    check "Linux: accesses that fault, $way" same
done
program=$work/threads arguments=(argument)
for limit in 5001 2000003; do both "Linux: threads, $limit instructions" --max-insns "$limit"; done

# Compiled code is the only executable memory of croft's that no file has.
cat >"$work/hot.c" <<'END'
#include <stdio.h>

int main(void)
{
    volatile int sum = 0;
    for (int i = 0; i < 3000000; i++)
        sum += i;
    puts("hot");
    fflush(stdout);
    return getchar() == EOF;
}
END
riscv64-linux-gnu-gcc -O2 -Wall -Werror -static "$work/hot.c" -o "$work/hot"
"$croft" cc -O2 -Wall -Werror "$work/hot.c" -o "$work/hot-newlib"
# compiled NAME WANTED OPTIONS... PROGRAM: whether a program that has run a loop is compiled: 1 or 0.
compiled() {
    local name=$1 wanted=$2 line count pid status=0
    shift 2
    coproc "$croft" run "$@"
    pid=$COPROC_PID
    read -r line <&"${COPROC[0]}" || :
    count=$(grep -cE '^[^ ]+ ..xp [^ ]+ [^ ]+ 0 *$' "/proc/$pid/maps") || :
    echo >&"${COPROC[1]}"
    wait "$pid" || status=$?
    check "$name: '$line', status $status, $count areas of code" [ "$line $status $((count > 0))" = "hot 0 $wanted" ]
}
if "$croft" run --jit=always "$work/hot" </dev/null 2>&1 | grep -q "this host has not"; then
    echo "this host cannot compile: what is compiled by default is not looked at"
else
    compiled "Linux, by default" 1 "$work/hot"
    compiled "Linux, --jit=off" 0 --jit=off "$work/hot"
    compiled "newlib, by default" 1 "$work/hot-newlib"
    compiled "Linux, beneath the kernel by default" 0 --env kernel "$work/hot"

    # Without LLVM's libraries, the quick compiler compiles all. An empty library ends the host's search for one.
    mkdir -p "$work/lone/bin" "$work/lone/share/croft/lib" "$work/broken"
    cp "$croft" "$work/lone/bin/croft"
    for file in "$(dirname "$croft")"/../share/croft/*; do
        [ "${file##*/}" = lib ] || ln -s "$(realpath "$file")" "$work/lone/share/croft/"
    done
    : >"$work/broken/libLLVM-14.so.1"
    with_llvm=$croft croft=$work/lone/bin/croft
    export LD_LIBRARY_PATH=$work/broken
    compiled "without LLVM, by default" 1 "$work/hot"
    text=$("$croft" run --jit=on "$work/hot" 2>&1 >/dev/null </dev/null) || :
    check "without LLVM, no message" [ -z "$text" ]
    check "without LLVM, croft version" grep -qF "compiles hot code, but not better what runs long: this host has not LLVM 14" < <("$croft" version)
    refused "without LLVM, --jit=always" --jit=always "--jit=always: this host has not LLVM 14 (libLLVM-14.so.1)"
    unset LD_LIBRARY_PATH
    croft=$with_llvm
    check "with LLVM, croft version" grep -qF "compiles hot code, and better what runs long, by LLVM 14" < <("$croft" version)

    # On one processor, where the second thread gets its turns between the first one's.
    program=$work/hot-newlib
    run int --jit=off
    for way in on always; do
        status=0
        taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+$')" "$croft" run --jit=$way --stats "$work/stats" "$program" </dev/null >"$work/out" || status=$?
        jq 'del(.host)' "$work/stats" >"$work/statistics"
        check "on one processor, $way" [ "$status $(cat "$work/out")" = "$(cat "$work/int/status" "$work/int/stdout" | xargs)" ]
        check "on one processor, $way, its statistics" cmp -s "$work/int/statistics" "$work/statistics"
    done
fi
text=$("$croft" run -m ddr3 "$work/hot" 2>&1 >/dev/null </dev/null) || :
check "Linux, a clock, by default" [ "$(grep -c "compiles nothing" <<<"$text")" -eq 0 ]

program=$user arguments=() environment=()
both "beneath the kernel" --env kernel
both "beneath the kernel, 54321 instructions" --env kernel --max-insns 54321
warned "a log" "--log shows single instructions" --log insn:/dev/null
check "there are programs" [ "$programs" -gt 0 ]
conclude
