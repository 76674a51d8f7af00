#!/usr/bin/env bash
# The `user` environment, the loader and the command line. Variables: CROFT (the command), OUT (a folder for
# products), CC (the host's compiler), CHECK_BACKTRACE (built from tests/debug/check_backtrace.c).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=${OUT:-build/tests/env}
CC=${CC:-gcc}
CHECK_BACKTRACE=$(realpath "${CHECK_BACKTRACE:-build/tests/debug/check_backtrace}")
OUT=$(fresh "$OUT")

evidence() {
    head -c 2000 "$OUT/stdout" "$OUT/stderr"
}

# run STATUS NAME COMMAND...: the command must end with that status; its output goes to $OUT/stdout and
# $OUT/stderr.
run() {
    local wanted=$1 name=$2 status=0
    shift 2
    timeout 600 "$@" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null || status=$?
    if [ "$status" = "$wanted" ]; then
        pass
    else
        fail "$name: status $status, not $wanted" "$(cat "$OUT/stdout" "$OUT/stderr")"
    fi
}

says() { check "$1 says '$3'" grep -qF -- "$3" "$OUT/$2"; }
lines() { check "$1: $3 line(s) on $2" test "$(wc -l <"$OUT/$2")" = "$3"; }

compile_guests() {
    local name
    for name in pointers sandbox files process fault regions memory; do
        "$CROFT" cc -O1 -g "$here/guest_$name.c" -o "$OUT/$name"
    done
    "$CROFT" cc -O1 -g0 -s "$here/guest_fault.c" -o "$OUT/fault-stripped"
    "$CROFT" cc -O2 -g0 "$here/guest_fault.c" -o "$OUT/fault-plain"
    "$CROFT" cc -O1 -mno-relax -nostartfiles "$here/guest_stack.c" -o "$OUT/stack"
}

test_calls() {
    mkdir -p "$OUT/dir"
    run 0 pointers "$CROFT" run --dir "$OUT/dir" "$OUT/pointers" 0xc0000000
    run 0 files "$CROFT" run --dir "$OUT/dir" "$OUT/files"
    check "files leaves nothing behind" rmdir "$OUT/dir"
    run 0 process "$CROFT" run "$OUT/process"
    says process stderr 'system call 999 at 0x'
    lines "process warns once for each number" stderr 2
    cp "$OUT/stdout" "$OUT/process.first"
    run 0 process "$CROFT" run "$OUT/process"
    check "process repeats" cmp -s "$OUT/stdout" "$OUT/process.first"
}

# A folder with every kind of path that leads out of it, next to a folder that must not change.
make_sandbox() {
    local box=$OUT/box
    mkdir -p "$box/inside/sub" "$box/outside" "$box/insidex"
    echo secret >"$box/outside/secret"
    echo secret >"$box/insidex/secret"
    cd "$box/inside"
    echo inside >inside.txt
    echo deep >sub/deep.txt
    ln -s ../outside/secret link_file
    ln -s ../outside link_folder
    ln -s "$box/outside/secret" link_absolute
    ln -s "$box/outside" link_absolute_folder
    ln -s ../outside/new link_dangling
    ln -s inside.txt link_inside
    ln -s .. sub/up
    ln -s loop loop
    ln -s /proc/self/root proc_root
    ln -s /proc/self/environ proc_link
    mkfifo pipe
    cd - >/dev/null
}

test_sandbox() {
    local box=$OUT/box before
    make_sandbox
    before=$(cd "$box" && ls -lR --full-time outside insidex && cat outside/secret)
    run 0 processes "$CROFT" run --dir / "$OUT/sandbox" processes
    says processes stderr "procfs would give access to croft itself"
    run 0 sandbox "$CROFT" run --dir "$box/inside" "$OUT/sandbox" "$box/inside" "$box/outside"
    says sandbox stderr "leads out of '$box/inside'"
    says sandbox stderr "path 'pipe' is a pipe"
    lines "sandbox warnings are bounded" stderr 21
    check "sandbox: the outside is as it was" test "$before" = \
        "$(cd "$box" && ls -lR --full-time outside insidex && cat outside/secret)"
    run 1 "a folder that is none" "$CROFT" run --dir "$box/inside/inside.txt" "$OUT/files"
    lines "a folder that is none" stderr 1
}

test_stack() {
    local long=$OUT/a-folder-with-a-rather-long-name
    run 0 stack "$CROFT" run -E A=1 --setenv 'B=two words' "$OUT/stack" x '' 'y z'
    says stack stdout "misaligned 0x0000000000000000"
    says stack stdout "registers 0x0000000000000000"
    says stack stdout "argc 0x0000000000000004"
    check "stack: arguments" test "$(grep -c '^argv ' "$OUT/stdout")" = 4
    says stack stdout "argv y z"
    check "stack: environment" test "$(grep '^env ' "$OUT/stdout")" = "$(printf 'env A=1\nenv B=two words')"
    says stack stdout "pagesize 0x0000000000001000"
    says stack stdout "entry_off_by 0x0000000000000000"
    says stack stdout "hwcap 0x000000000000112d"
    says stack stdout "random 0x000000000000005d"
    says stack stdout "name $OUT/stack"
    grep '^sp ' "$OUT/stdout" >"$OUT/sp"
    mkdir -p "$long"
    cp "$OUT/stack" "$long/stack"
    run 0 "stack, other path" "$CROFT" run -E A=1 --setenv 'B=two words' "$long/stack" x '' 'y z'
    check "stack does not move with the path" test "$(grep '^sp ' "$OUT/stdout")" = "$(cat "$OUT/sp")"
    run 1 "too many arguments" "$CROFT" run --set 'user_stack.size=64 KiB' "$OUT/stack" \
        "$(head -c 60000 /dev/zero | tr '\0' a)"
    says "too many arguments" stderr user_stack.size
}

# fault STATUS PROGRAM KIND TEXT...: the program dies with that status, and the message contains each TEXT.
fault() {
    local status=$1 program=$2 kind=$3
    shift 3
    run "$status" "$program $kind" "$CROFT" run --max-insns 50000000 "$OUT/$program" "$kind"
    for text in "$@"; do says "$program $kind" stderr "$text"; done
}

test_faults() {
    fault 139 fault load 'load of 8 bytes from 0x0, outside of the memory 0x80000000-0xbfffffff' \
        'guest_fault.c:' '#0 0x' 'walk' 'main+' '_start+' 'registers:'
    fault 139 fault store-double 'store of 8 bytes to 0x18, outside of the memory' 'registers: a1=0x10 ra='
    fault 139 fault load-end 'load of 4 bytes from 0xbffffffe'
    fault 139 fault store 'store of 8 bytes to 0x7fffffffffff0000, outside of the memory'
    fault 139 fault store-text 'which is read-only'
    fault 139 fault jump-null 'jump to 0x0, outside of the memory' 'jump+' 'main+'
    fault 139 fault jump-far 'jump to 0x1234567000, outside of the memory' 'jump+'
    fault 132 fault illegal 'illegal instruction 0xffffffff' 'main+' 'guest_fault.c:'
    fault 132 fault illegal-short 'illegal instruction 0x0000' 'guest_fault.c:'
    fault 133 fault break 'breakpoint (ebreak)' 'guest_fault.c:'
    fault 139 fault recursion "sp is below 0xbf800000, the end of the stack's 8192 KiB" 'deeper frames'
    fault 134 fault abort 'ended itself by signal 6, SIGABRT' 'abort+' 'main+'
    fault 139 fault no-stack 'load of 8 bytes from 0x0'
    fault 139 fault own-stack 'load of 8 bytes from 0x0'
    fault 139 fault atomic 'atomic access of 8 bytes to 0x40'
    fault 124 fault loop 'stopped after 50000000 instructions (--max-insns)' 'main+'
    fault 139 fault-plain load 'walk' 'main+' '_start+'
    fault 139 fault-stripped load 'no symbol'
    fault 139 fault-stripped jump-null 'no symbol'
    run 141 pipe bash -c "set -o pipefail; '$CROFT' run '$OUT/fault' pipe | head -n 1"
    run 0 "closed output" bash -c "'$CROFT' run '$OUT/fault' nothing >&-"
}

test_backtraces() {
    local program
    for program in fault fault-plain; do
        run 0 "backtraces of $program" "$CHECK_BACKTRACE" "$OUT/$program"
    done
}

test_elf() {
    local file name
    mkdir -p "$OUT/elf"
    "$CC" -std=c17 -O1 -g "$here/elf_mutations.c" -o "$OUT/elf_mutations"
    "$OUT/elf_mutations" "$OUT/fault-stripped" "$OUT/elf"
    run 0 "the good file" "$CROFT" run "$OUT/fault-stripped"
    for file in "$OUT"/elf/*; do
        name=$(basename "$file")
        run 1 "elf $name" "$CROFT" run "$file"
        lines "elf $name" stderr 1
        lines "elf $name" stdout 0
        says "elf $name" stderr "$file"
    done
    for name in /nonexistent "$OUT" /dev/null /dev/zero; do
        run 1 "elf $name" "$CROFT" run "$name"
        lines "elf $name" stderr 1
        says "elf $name" stderr "$name"
    done
}

test_disasm() {
    run 0 disasm "$CROFT" disasm "$OUT/fault-plain"
    sed -E 's/ *$//; s/0x([0-9a-f]+)( <[^>]*>)$/\1\2/' "$OUT/stdout" >"$OUT/ours"
    riscv64-unknown-elf-objdump -d -M no-aliases "$OUT/fault-plain" | sed -E '1,3d; s/ # .*//; s/ *$//' |
        sed -E 's/\.word\t0x/.4byte\t0x/; s/\.short\t0x0000/.2byte\t0x0/; s/\tsltu\tzero,zero,zero$/\tnucd.order/' >"$OUT/theirs"
    check "disasm equals objdump" diff "$OUT/ours" "$OUT/theirs"
    run 0 bits "$CROFT" disasm --bits 0x00c58533 0x4501
    check bits test "$(cat "$OUT/stdout")" = "$(printf '00c58533\tadd\ta0,a1,a2\n4501\tc.li\ta0,0')"
    for file in "$OUT"/elf/*; do
        timeout 600 "$CROFT" disasm "$file" >"$OUT/stdout" 2>"$OUT/stderr" || [ $? = 1 ] ||
            fail "disasm $(basename "$file")"
    done
    pass
}

# usage TEXT ARGUMENTS...: a usage error with that text, on one line, with status 2.
usage() {
    local text=$1
    shift
    run 2 "croft $*" "$CROFT" "$@"
    says "croft $*" stderr "$text"
    lines "croft $*" stderr 1
}

test_usage() {
    local command
    if [ -w /dev/full ]; then
        for command in "show nucd" machines "disasm $OUT/files" version help; do
            # shellcheck disable=SC2016,SC2086 # bash expands them; several words
            run 1 "$command to a full device" bash -c '"$0" "$@" >/dev/full' "$CROFT" $command
            says "$command to a full device" stderr "the output cannot be written: No space left on device"
        done
    fi
    usage "did you mean 'run'?" rnu
    usage "croft --help" zzzzzz
    usage "did you mean '--machine'?" run --machin x
    usage "unknown option '-z'" run -z
    usage "needs a value: --stats FILE" run --stats
    usage "no program given" run
    usage "takes no value" run --help=x
    usage "did you mean 'user'?" run --env usre x
    usage "--max-insns needs a number" run --max-insns 1k x
    usage "--max-insns needs a number" run --max-insns 99999999999999999999999 x
    usage "--setenv needs NAME=VALUE" run --setenv =x x
    usage "takes no argument" version x
    usage "is not an instruction" disasm --bits 0x100000000
    for command in '' run cc candidates disasm machines show version; do
        # shellcheck disable=SC2086
        run 0 "croft $command --help" "$CROFT" $command --help
        says "croft $command --help" stdout usage
        says "croft $command --help" stdout example
    done
    run 0 "options end at the program" "$CROFT" run "$OUT/stack" --help -- -m
    says "options end at the program" stdout 'argv --help'
    run 0 "--" "$CROFT" run -- "$OUT/stack" a
}

test_stats() {
    local name first=$OUT/first.json second=$OUT/deeper/second.json
    mkdir -p "$OUT/deeper"
    cp "$OUT/fault-plain" "$OUT/deeper/"
    run 0 stats "$CROFT" run --stats "$first" "$OUT/fault-plain"
    (cd "$OUT/deeper" && "$CROFT" run --stats "$second" ./fault-plain)
    check "statistics repeat from another folder" diff <(without_host "$first") <(without_host "$second")
    check "the description is saved" grep -q '^memory:' "$first.machine.yaml"
    run 0 "the description runs" "$CROFT" run -m "$first.machine.yaml" "$OUT/fault-plain"
    run 139 "statistics of a death" "$CROFT" run --stats - "$OUT/fault-plain" load
    says "statistics of a death" stdout '"exit_status": 139'
    run 0 regions "$CROFT" run --stats "$OUT/regions.json" "$OUT/regions"
    for name in first inner roi region0 region1 region2 region3; do
        check "region $name" grep -q "\"$name\": {" "$OUT/regions.json"
    done
    check "the inner region is entered three times" grep -q '"entries": 3' "$OUT/regions.json"
    lines "unusable names are warned of" stderr 4
    run 1 "statistics that cannot be written" "$CROFT" run --stats /nonexistent/x "$OUT/fault-plain"
    lines "statistics that cannot be written" stderr 1
}

# limited STATUS NAME OPTIONS...: a run of guest_memory.c with 16 MiB; over the limit, it ends with the message alone.
limited() {
    local wanted=$1 name=$2
    shift 2
    run "$wanted" "$name" "$CROFT" run --max-memory 16MiB "$@"
    if [ "$wanted" = 124 ]; then
        says "$name" stderr 'stopped with more than 16 MiB of memory in use (--max-memory)'
        lines "$name" stdout 0
    else
        says "$name" stdout 'done'
        lines "$name" stderr 0
    fi
}

test_memory() {
    local options
    for options in "" "--env kernel" "-m nucd" "-m nucd --env kernel"; do
        # shellcheck disable=SC2086 # several words
        {
            limited 0 "8 MiB, $options" $options "$OUT/memory" fill 8
            limited 124 "24 MiB, $options" $options "$OUT/memory" fill 24
            says "24 MiB, $options" stderr ', fill+'
            limited 0 "64 MiB, not written, $options" $options "$OUT/memory" reserve 64
        }
    done
    limited 0 "160 MiB in turn" "$OUT/memory" turns 8
    limited 0 "160 MiB in turn, timed" -m nucd "$OUT/memory" turns 8
    for options in "--set simt.count=2" "-m gpu" "-m gpu --env kernel"; do
        # shellcheck disable=SC2086 # several words
        {
            limited 0 "8 MiB of threads, $options" $options "$OUT/memory" threads 8
            limited 124 "24 MiB of threads, $options" $options "$OUT/memory" threads 24
        }
    done
    # One block at a time, on the stacks of its 64 threads; on gpu, all 1024 threads have theirs.
    limited 0 "stacks" --set simt.count=2 "$OUT/memory" stacks 0
    run 124 "stacks" "$CROFT" run --max-memory 2MiB -m gpu "$OUT/memory" stacks 0
    # shellcheck disable=SC2016 # bash expands them
    run 124 "24 MiB in a call" bash -c '"$0" run --max-memory 16MiB "$1" read 24 </dev/zero' "$CROFT" "$OUT/memory"
    says "24 MiB in a call" stderr ', _read+'
    limited 124 "24 MiB of an accelerator" -m nucd "$OUT/memory" region 24
    limited 0 "8 MiB of an accelerator" -m nucd "$OUT/memory" region 8
    run 124 "the program itself" "$CROFT" run --max-memory 8KiB "$OUT/memory" fill 8
    says "the program itself" stderr "stopped before it began: what is loaded takes more than 8 KiB"
    run 124 "under a log" "$CROFT" run --max-memory 1MiB --log commit:/dev/null "$OUT/memory" fill 8
    cp "$OUT/stderr" "$OUT/memory.before"
    run 124 "without the log" "$CROFT" run --max-memory 1MiB "$OUT/memory" fill 8
    check "a log does not change the place" cmp "$OUT/memory.before" "$OUT/stderr"
    usage "--max-memory: '0KiB' is not allowed; it must be greater than 0" run --max-memory 0KiB x
    usage "--max-memory: " run --max-memory 5q x
}

# shellcheck source=tests/env/timed.sh
source "$here/timed.sh"

compile_guests
test_calls
test_sandbox
test_stack
test_faults
test_backtraces
test_elf
test_disasm
test_usage
test_stats
test_memory
test_timed
conclude
