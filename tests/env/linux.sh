#!/usr/bin/env bash
# Programs of Linux: each call and its errors, threads, signals, C++, dynamic linking, on machines with and without a clock,
# against qemu-riscv64; messages. Variables: CROFT (the command), OUT (a folder for products).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

cd "$(dirname "$0")/../.."
programs=$PWD/tests/env/linux/programs
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=$(fresh "${OUT:-build/tests/linux}")
sysroot=/usr/riscv64-linux-gnu
networks=(sockets socket_options socket_waits socket_files)
calls=(memory signals threads process files pipes ready attributes timers code failures copies shared limits inherits)

evidence() {
    diff "$OUT/wanted" "$OUT/output" | head -n 10
    head -n 10 "$OUT/errors"
}

build() {
    local name
    for name in "${calls[@]}" own faults input waits streams escapes sysroot areas inodes "${networks[@]}" net_own peer; do
        riscv64-linux-gnu-gcc -std=gnu17 -Wall -Werror -O1 -static "$programs/$name.c" -o "$OUT/$name"
    done
    riscv64-linux-gnu-gcc -std=gnu17 -O2 "$programs/threads.c" -o "$OUT/threads-dynamic"
    riscv64-linux-gnu-gcc -std=gnu17 -O1 "$programs/faults.c" -o "$OUT/faults-dynamic"
    riscv64-linux-gnu-gcc -std=gnu17 -O2 -no-pie "$programs/signals.c" -o "$OUT/signals-fixed"
    riscv64-linux-gnu-gcc -std=gnu17 -O1 -static "$programs/random.c" -o "$OUT/random"
    riscv64-linux-gnu-gcc -std=gnu17 -O2 -fopenmp "$programs/openmp.c" -o "$OUT/openmp" -lm
    riscv64-linux-gnu-g++ -std=c++17 -O2 -static "$programs/cxx.cc" -o "$OUT/cxx"
    riscv64-linux-gnu-g++ -std=c++17 -O2 "$programs/cxx.cc" -o "$OUT/cxx-dynamic"
}

# Runs a program in a folder of its own; sets $status.
croft() {
    local program=$1
    shift
    status=0
    (cd "$(fresh "$OUT/dir")" && timeout 300 "$CROFT" run "$@" --setenv NAME=value "$OUT/$program" argument) \
        >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
}

# equal PROGRAM NAME OPTIONS...: output and status are those of qemu-riscv64, in $OUT/PROGRAM.wanted.
equal() {
    local program=$1 name=$2
    shift 2
    croft "$program" "$@"
    cp "$OUT/$program.wanted" "$OUT/wanted"
    check "$program, $name: status $status, not $(cat "$OUT/$program.status")" [ "$status" = "$(cat "$OUT/$program.status")" ]
    check "$program, $name: output" cmp -s "$OUT/output" "$OUT/wanted"
}

# ask PROGRAM OPTIONS...: records what qemu-riscv64 gives.
ask() {
    local program=$1
    shift
    (cd "$(fresh "$OUT/dir")" && oracle "$OUT/$program.wanted" -E NAME=value "$@" "$OUT/$program" argument && echo "$wanted" >"$OUT/$program.status")
}

# ends NAME STATUS OPTIONS... PROGRAM: the run ends with that status.
ends() {
    local name=$1 wanted=$2
    shift 2
    status=0
    (cd "$OUT/dir" && timeout 300 "$CROFT" run "$@") >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
    check "$name: status $status, not $wanted" [ "$status" = "$wanted" ]
}

# says NAME STATUS TEXT OPTIONS... PROGRAM: the run ends with that status and message.
says() {
    ends "$1" "$2" "${@:4}"
    check "$1 says '$3'" grep -qF -- "$3" "$OUT/errors"
}

# Programs that are linked to addresses below and above memory.
test_addresses() {
    local address
    cat >"$OUT/far.S" <<'END'
    .globl _start
_start:
    li a0, 1
    la a1, text
    li a2, 4
    li a7, 64
    ecall
    li a0, 3
    li a7, 93
    ecall
    .section .rodata
text: .ascii "far\n"
    .section .note.GNU-stack,"",@progbits
END
    for address in 0x10000 0xc0000000 0x100000000 0x2000000000; do
        riscv64-linux-gnu-gcc -nostdlib -static "-Wl,-Ttext-segment=$address" "$OUT/far.S" -o "$OUT/far"
        ask far
        equal far "at $address"
        equal far "at $address, out of order, beneath the kernel" -m nucd --env kernel
    done
}

# Each call of the table has a test; the table ascends.
test_table() {
    local numbers name missing=()
    numbers=$(sed -n 's/^LINUX_CALL(\([0-9]*\),.*/\1/p' emu/env/linux/calls.def)
    check "missing.def has no call of calls.def, and ascends" [ -z "$(sed -n 's/^LINUX_[A-Z]*(\([0-9]*\),.*/\1/p' emu/env/linux/calls.def emu/env/linux/missing.def | sort -n | uniq -d)" ]
    check "calls.def ascends" [ "$numbers" = "$(sort -nu <<<"$numbers")" ]
    while read -r name; do
        grep -qE "(SHOW|SHOW_OK)\(${name}[,)]|EXPECT\([^,]*, ${name}[,)]|SYS_$name\>" "$programs"/*.c || missing+=("$name")
    done < <(sed -n 's/^LINUX_CALL([0-9]*, \([a-z0-9_]*\),.*/\1/p' emu/env/linux/calls.def)
    tests/env/linux_table.sh emu/env/linux/calls.def >"$OUT/wanted"
    sed -n '/^| number/,$p' emu/env/linux/README.md >"$OUT/output"
    check "README.md's table is that of calls.def" cmp -s "$OUT/wanted" "$OUT/output"
    check "calls without a test: ${missing[*]:-}" [ ${#missing[@]} = 0 ]
}

test_calls() {
    local program
    for program in "${calls[@]}" cxx; do
        ask "$program"
        equal "$program" functional
        [ "$program" != limits ] || check "a file of holes takes no room" [ "$(stat -c %b "$OUT/dir/sparse")" -lt 1000 ]
        equal "$program" "in order" -m ddr3
        equal "$program" "out of order" -m nucd
        equal "$program" "three harts" -m virt --set harts=3
    done
    for program in signals threads cxx; do
        equal "$program" "three hosts with a clock" -m nucd --set host.count=3
    done
    for program in "" "-m ddr3"; do
        # shellcheck disable=SC2086
        croft own $program
        cp "$OUT/output" "$OUT/wanted"
        check "own $program" [ "$status" = 0 ]
        check "procfs is refused for what it is" grep -qF "path '/proc/self/mem' is refused: procfs would give access" "$OUT/errors"
        check "the name of a missing call" grep -q 'system call 434, pidfd_open, at 0x[0-9a-f]*, syscall+0x12, is missing: it returns -ENOSYS' "$OUT/errors"
        check "memory that is not there is warned of" grep -q 'a mapping of 67108864 KiB at 0x[0-9a-f]* fails with ENOMEM: [0-9]* KiB of memory are left; enlarge memory.size (' "$OUT/errors"
        check "missing calls are warned of once" [ "$(grep -c 'system call 599 at 0x[0-9a-f]*, syscall+0x12, is missing: it returns -ENOSYS' "$OUT/errors")" = 1 ]
    done
}

# instructions FILE: those of the first hart, in statistics.
instructions() {
    sed -n 's/^ *"host.0.instructions": \([0-9]*\),*$/\1/p' "$1" | head -n 1
}

# The same beneath the kernel, which saves registers, switches threads and waits in supervisor mode.
test_kernel() {
    local program
    for program in "${calls[@]}" cxx; do
        equal "$program" "beneath the kernel" --env kernel
        equal "$program" "beneath the kernel, three harts" --env kernel -m virt --set harts=3
        equal "$program" "beneath the kernel, three hosts with a clock" --env kernel -m nucd --set host.count=3
    done
    croft cxx -m ddr3 --stats "$OUT/user.json"
    equal cxx "beneath the kernel, in order" --env kernel -m ddr3 --stats "$OUT/kernel.json"
    check "the kernel takes instructions: $(instructions "$OUT/user.json"), $(instructions "$OUT/kernel.json")" \
        [ "$(instructions "$OUT/kernel.json")" -gt $(($(instructions "$OUT/user.json") + 5000)) ]
    equal threads-dynamic "dynamic, beneath the kernel" --env kernel --sysroot "$sysroot"
    equal openmp "three harts beneath the kernel" --env kernel --sysroot "$sysroot" -m virt --set harts=3
    equal launches "beneath the kernel" --env kernel -m gpu --set host.count=2
    equal regions "beneath the kernel" --env kernel -m nucd --set host.count=2 --sysroot "$sysroot"
    says "the driver" 0 "the driver is in the kernel beneath programs of croft cc (--env kernel): here the host runs all regions" \
        --env kernel -m nucd --set nucd.mode=driver --sysroot "$sysroot" "$OUT/regions"
    says "beneath the kernel, a fault" 139 "store of 4 bytes to 0x0, where nothing is mapped" --env kernel "$OUT/faults" null
    says "beneath the kernel, a limit" 124 "stopped after 1000 instructions (--max-insns)" --env kernel --max-insns 1000 "$OUT/faults"
    says "beneath the kernel, a dead lock" 1 "all 1 threads wait for ever" --env kernel -m ddr3 "$OUT/faults" wait
}

test_dynamic() {
    local program
    for program in threads-dynamic signals-fixed cxx-dynamic; do
        ask "$program" -L "$sysroot"
        equal "$program" dynamic --sysroot "$sysroot"
        equal "$program" "dynamic, out of order" --sysroot "$sysroot" -m nucd
    done
    says "a fault in position-independent code" 139 ", main+0x" --sysroot "$sysroot" "$OUT/faults-dynamic" null
    check "its backtrace" grep -qE '^    #0 0x2a[0-9a-f]+ main\+0x' "$OUT/errors"
    says "no sysroot" 1 "needs the dynamic linker /lib/ld-linux-riscv64-lp64d.so.1; name the folder that has it" "$OUT/cxx-dynamic"
    says "empty sysroot" 1 "which --sysroot $OUT/dir does not have (No such file or directory); name the folder that has it at this path" --sysroot . "$OUT/cxx-dynamic"
    says "missing sysroot" 1 "--sysroot: cannot use '/none' as the folder of libraries: No such file or directory" --sysroot /none "$OUT/cxx-dynamic"
}

test_faults() {
    says "store to 0" 139 "store of 4 bytes to 0x0, where nothing is mapped" "$OUT/faults" null
    says "store to code" 139 "which is read-only" "$OUT/faults" text
    says "jump" 139 "jump to 0x5000, where nothing is mapped" -m ddr3 "$OUT/faults" jump
    says "illegal" 132 "illegal instruction 0xffffffff" "$OUT/faults" illegal
    says "vector" 132 "illegal instruction 0x0d007057, of the vector extension V, which no machine has: build the program" "$OUT/faults" vector
    says "abort" 134 "ended itself by signal 6, SIGABRT" "$OUT/faults" abort
    says "abort with a shared file" 134 "SIGABRT" "$OUT/faults" shared
    check "the file is written back" [ "$(cat "$OUT/dir/shared")" = kept ]
    says "behind the end of a file" 135 "is behind the end of" "$OUT/faults" bus
    says "stack" 139 "where nothing is mapped" "$OUT/faults" stack
    says "dead lock" 1 "all 1 threads wait for ever" "$OUT/faults" wait
    says "dead lock with a clock" 1 "all 1 threads wait for ever" -m ddr3 "$OUT/faults" wait
    says "limit" 124 "stopped after 1000 instructions (--max-insns)" --max-insns 1000 "$OUT/faults"
    says "memory" 1 "does not fit into memory: 0x800000 bytes at 0x3fff7ff000; enlarge memory.size (8260 KiB)" --set memory.size=8260KiB "$OUT/faults"
    croft faults
    check "nothing to say" [ ! -s "$OUT/errors" ]
    (cd "$OUT/dir" && timeout 300 "$CROFT" run "$OUT/faults" many) >"$OUT/output" 2>"$OUT/errors" || true
    check "300 threads" grep -qx "300 threads" "$OUT/output"
}

test_fortran() {
    command -v riscv64-linux-gnu-gfortran >/dev/null || { echo "riscv64-linux-gnu-gfortran is not installed: its program is skipped"; return; }
    riscv64-linux-gnu-gfortran -O2 -static "$programs/numbers.f90" -o "$OUT/numbers" 2>"$OUT/errors"
    ask numbers
    equal numbers functional
    equal numbers "in order" -m ddr3
}

# What a folder outside of --dir, and a file of the sysroot, are like.
outer() {
    find "$OUT/outside" "$OUT/root" -printf '%p %m %s %T@\n' | sort
    cat "$OUT/outside/secret" "$OUT/root/lib/library"
}

test_escapes() {
    local dir racer
    dir=$(fresh "$OUT/dir")
    fresh "$OUT/outside" >/dev/null
    fresh "$OUT/root/lib" >/dev/null
    echo "outside and secret" >"$OUT/outside/secret"
    echo "a library" >"$OUT/root/lib/library"
    touch -d @50000 "$OUT/outside/secret" "$OUT/outside" "$OUT/root/lib/library" "$OUT/root/lib"
    echo "inside" >"$dir/inside"
    mkdir "$dir/folder" "$dir/swap"
    echo "swaps" >"$dir/swap/secret"
    ln -s ../outside/secret "$dir/link_file"
    ln -s "$OUT/outside/secret" "$dir/link_absolute"
    ln -s ../outside "$dir/link_folder"
    ln -s "$OUT/outside" "$dir/link_absolute_folder"
    outer >"$OUT/wanted"
    (cd "$dir" && while :; do
        ln -sfn ../outside race
        ln -sfn swap race
    done) 2>/dev/null &
    racer=$!
    status=0
    (cd "$dir" && timeout 300 "$CROFT" run --sysroot "$OUT/root" "$OUT/escapes" "$OUT/outside" /lib/library) >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
    kill $racer
    wait $racer 2>/dev/null || true
    check "escapes that succeed: $status: $(head -n 5 "$OUT/output")" [ "$status" = 0 ]
    outer >"$OUT/output"
    check "what lies outside stays as it is" cmp -s "$OUT/output" "$OUT/wanted"
}

# Absolute links in the sysroot lead to what it has there, as beneath chroot(1), and --dir / has those of the host.
test_sysroot() {
    local machine tree
    tree=$(fresh "$OUT/tree/lib")
    echo "a library" >"$tree/library"
    ln -s /lib/library "$tree/link_absolute"
    ln -s ../../../../../lib/library "$tree/link_up"
    ln -s /lib "$tree/link_folder"
    ln -s "$OUT/outside" "$tree/link_missing"
    for machine in functional ddr3 "virt --env kernel"; do
        # shellcheck disable=SC2086 # options are words
        ends "what the sysroot has, $machine" 0 -m $machine --net --sysroot "$OUT/tree" "$OUT/sysroot" "$OUT/tree"
        check "what the sysroot has, $machine: $(cat "$OUT/output")" [ ! -s "$OUT/output" ]
        check "what cannot be written is warned of once" [ "$(grep -c "is refused to write with EROFS: only files beneath --dir can be written (for temporary ones, --setenv TMPDIR=$OUT/dir)" "$OUT/errors")" = 1 ]
    done
    ln -s "$tree/library" "$OUT/dir/link"
    ends "an absolute link with --dir /" 0 --dir / "$OUT/sysroot" read "$OUT/dir/link"
    ends "an absolute link that leads out" 1 "$OUT/sysroot" read link
}

# lines OUTPUT: prints lines one by one, each when the program has written to OUTPUT what comes before it, and ends behind the program's last line.
lines() {
    local text
    for text in "" "line 1" "line 2" "line 3" "line 4" "line 5" counted struck "nothing more"; do
        # shellcheck disable=SC2016 # the inner shell's
        [ -z "$text" ] || timeout 100 bash -c 'until grep -qF -- "$2" "$1"; do sleep 0.05; done' - "$1" "$text" 2>/dev/null
        sleep 0.1
        [ "$text" = "nothing more" ] || echo "line $((++sent))"
    done
}

test_input() {
    local machine sent=0
    : >"$OUT/wanted"
    # shellcheck disable=SC2094 # lines() waits for what is written
    qemu-riscv64 "$OUT/input" >"$OUT/wanted" < <(lines "$OUT/wanted")
    check "all lines have come" grep -q "nothing more: 0" "$OUT/wanted"
    for machine in functional ddr3 "virt --set harts=2" "ddr3 --set host.count=2"; do
        : >"$OUT/output"
        # shellcheck disable=SC2086,SC2094 # several words; as above
        timeout 100 "$CROFT" run -m $machine "$OUT/input" >"$OUT/output" 2>"$OUT/errors" < <(lines "$OUT/output") || true
        check "input that arrives late, $machine" cmp -s "$OUT/output" "$OUT/wanted"
    done
}

# answer OUTPUT TEXT...: prints a line when the program has written each text to OUTPUT, and has had the time to wait again.
answer() {
    local text
    for text in "${@:2}"; do
        # shellcheck disable=SC2016 # the inner shell's
        timeout 100 bash -c 'until grep -qF -- "$2" "$1"; do sleep 0.05; done' - "$1" "$text" 2>/dev/null
        sleep 0.1
        echo
    done
}

# waits NAME WANTED COMMAND...: runs it, with a line of input after each line that it writes, in the folder; it writes WANTED and succeeds.
waits() {
    local name=$1 lines status=0
    mapfile -t lines <<<"$2"
    printf '%s\n' "${lines[@]}" >"$OUT/wanted"
    : >"$OUT/output"
    # shellcheck disable=SC2094 # answer() waits for what is written
    (cd "$OUT/dir" && exec timeout 100 "${@:3}") >"$OUT/output" 2>"$OUT/errors" < <(answer "$OUT/output" "${lines[@]}") || status=$?
    check "$name: status $status" [ "$status" = 0 ]
    check "$name: output" cmp -s "$OUT/output" "$OUT/wanted"
}

# Some threads wait for input, and others for threads, time, or sockets.
test_waits() {
    local mode machine inputs client
    inputs=$(printf '%s\n' waits "input "{0..3})
    fresh "$OUT/dir" >/dev/null
    for mode in worker watchdog; do
        waits "$mode under qemu-riscv64" "$inputs" qemu-riscv64 "$OUT/waits" "$mode"
        for machine in functional ddr3 "ddr3 --set host.count=2" "virt --set harts=2" "ddr3 --env kernel"; do
            # shellcheck disable=SC2086 # options are words
            waits "$mode, $machine" "$inputs" "$CROFT" run -m $machine "$OUT/waits" "$mode"
        done
    done
    for machine in functional ddr3; do
        waits "polls of more entries than files, $machine" $'waits\npoll 400\npoll 400\npoll 400' \
            bash -c 'ulimit -n 256 && exec "$@"' - "$CROFT" run -m "$machine" "$OUT/waits" many
        fresh "$OUT/dir" >/dev/null
        : >"$OUT/output"
        (cd "$OUT/dir" && answer "$OUT/output" waits >/dev/null && exec timeout 100 qemu-riscv64 "$OUT/waits" ask) &
        client=$!
        # shellcheck disable=SC2094 # as above
        (cd "$OUT/dir" && exec timeout 100 "$CROFT" run --net -m "$machine" "$OUT/waits" server) >"$OUT/output" 2>"$OUT/errors" < <(answer "$OUT/output" accept) || true
        wait "$client" || true
        printf 'waits\naccept 0\n' >"$OUT/wanted"
        check "a client while others wait for input, $machine" cmp -s "$OUT/output" "$OUT/wanted"
    done
}

# late: writes to a pipe, later than the program reads it.
late() {
    sleep 0.2
    echo hello
    head -c 150000 /dev/zero
    sleep 0.2
    head -c 77777 /dev/zero
}

# streams OUTPUT COMMAND...: what the program says, and the sum of what it writes to a pipe that is read later than it is full.
streams() {
    local output=$1
    shift
    (cd "$OUT/dir" && late | timeout 100 "$@" 2>"$output" | (sleep 0.4 && cksum)) >"$OUT/sum" || true
    cat "$OUT/sum" >>"$output"
}

# fills OUTPUT COMMAND...: the same of a pipe that is read when the program has said that it is full.
fills() {
    local output=$1
    shift
    : >"$output"
    # shellcheck disable=SC2016,SC2094 # the inner shell's, which waits for what is written
    (cd "$OUT/dir" && timeout 100 "$@" 2>"$output" </dev/null |
        (timeout 20 bash -c 'until grep -q EAGAIN "$1"; do sleep 0.05; done' - "$output" && cksum)) >"$OUT/sum" || true
    cat "$OUT/sum" >>"$output"
}

# Standard streams that are pipes, of which the host has nothing to read, or which are full.
test_streams() {
    local mode machine thread
    for mode in tee in out pages; do
        streams "$OUT/wanted" qemu-riscv64 "$OUT/streams" $mode
        for machine in functional "ddr3 --env kernel"; do
            for thread in "" thread; do
                # shellcheck disable=SC2086 # options are words
                streams "$OUT/output" "$CROFT" run -m $machine "$OUT/streams" $mode $thread
                check "standard streams, $mode, $machine $thread: $(tail -n 2 "$OUT/output")" cmp -s "$OUT/output" "$OUT/wanted"
            done
        done
    done
    fills "$OUT/wanted" qemu-riscv64 "$OUT/streams" full
    for machine in functional ddr3; do
        fills "$OUT/output" "$CROFT" run -m $machine "$OUT/streams" full
        check "a standard stream without waiting, $machine: $(tail -n 2 "$OUT/output")" cmp -s "$OUT/output" "$OUT/wanted"
    done
}

test_openmp() {
    ask openmp -L "$sysroot"
    equal openmp "one hart" --sysroot "$sysroot"
    equal openmp "three harts" --sysroot "$sysroot" -m virt --set harts=3
    equal openmp "two hosts with a clock" --sysroot "$sysroot" -m ddr3 --set host.count=2
}

# converse NAME MODE SERVER... -- CLIENT...: two runs of `peer`, begun by these words, talk to each other.
converse() {
    local name=$1 mode=$2 dir server=() status=0 pid
    shift 2
    dir=$(fresh "$OUT/dir")
    while [ "$1" != -- ]; do
        server+=("$1")
        shift
    done
    shift
    (cd "$dir" && exec timeout 300 "${server[@]}" "$OUT/peer" serve "$mode") >"$OUT/output" 2>"$OUT/errors" </dev/null &
    pid=$!
    # shellcheck disable=SC2016 # the inner shell's
    timeout 300 bash -c 'until [ -e "$1" ]; do sleep 0.05; done' - "$dir/server"
    (cd "$dir" && timeout 300 "$@" "$OUT/peer" ask "$mode") >"$OUT/asked" 2>>"$OUT/errors" </dev/null || status=$?
    wait "$pid" || status=$?
    check "$name: status $status" [ "$status" = 0 ]
    printf '%s\n' "question "{0..4} "end 0" >"$OUT/wanted"
    check "$name: the server" cmp -s "$OUT/output" "$OUT/wanted"
    yes answer | head -n 5 >"$OUT/wanted" || true
    check "$name: the client" cmp -s "$OUT/asked" "$OUT/wanted"
}

# A signal from outside ends a program that waits for the network.
test_stopped_server() {
    local pid dir machine
    for machine in functional ddr3; do
        dir=$(fresh "$OUT/dir")
        (cd "$dir" && exec timeout 300 "$CROFT" run --net -m $machine "$OUT/peer" serve internet) >"$OUT/output" 2>"$OUT/errors" </dev/null &
        pid=$!
        # shellcheck disable=SC2016 # the inner shell's
        timeout 300 bash -c 'until [ -e "$1" ]; do sleep 0.05; done' - "$dir/server"
        kill -TERM "$pid"
        status=0
        wait "$pid" || status=$?
        check "a server that is stopped, $machine: status $status" [ "$status" = 143 ]
        check "says so, $machine" grep -q 'stopped by SIGTERM at 0x' "$OUT/errors"
    done
}

test_network() {
    local mode machine program
    for program in "${networks[@]}"; do
        ask "$program"
        equal "$program" functional --net
        [ "$program" != sockets ] || grep skipped "$OUT/errors" || true
        equal "$program" "in order" --net -m ddr3
        equal "$program" "three harts" --net -m virt --set harts=3
        equal "$program" "beneath the kernel, two hosts" --net --env kernel -m nucd --set host.count=2
    done
    for machine in functional ddr3 "virt --set harts=3"; do
        # shellcheck disable=SC2086 # options are words
        croft net_own --net -m $machine
        check "sockets otherwise than under qemu-riscv64, $machine: status $status: $(head -n 5 "$OUT/output")" [ "$status" = 0 ]
    done
    check "abstract names are refused, and why, once" [ "$(grep -c "a name of a socket without a file" "$OUT/errors")" = 1 ]
    for mode in internet file; do
        for machine in functional ddr3; do
            converse "qemu-riscv64 serves, $mode, $machine" "$mode" qemu-riscv64 -- "$CROFT" run --net -m "$machine"
            converse "qemu-riscv64 asks, $mode, $machine" "$mode" "$CROFT" run --net -m "$machine" -- qemu-riscv64
        done
        converse "two of ours, $mode" "$mode" "$CROFT" run --net -- "$CROFT" run --net --env kernel
    done
    says "without --net" 1 "is refused with EAFNOSUPPORT: programs have sockets only with --net" "$OUT/peer" serve internet
    check "without --net: said once" [ "$(grep -c EAFNOSUPPORT "$OUT/errors")" = 1 ]
    "$CROFT" cc -O1 examples/hello.c -o "$OUT/newlib"
    says "--net for a program of croft cc" 0 "--net has no effect on $OUT/newlib: only programs of Linux have sockets" --net "$OUT/newlib"
    says_of "--net for a system" "--net is for programs of Linux; a system has a network device by --netdev" run --net --env bare "$OUT/peer"
    says_of "--net has no value" "option '--net' takes no value" run --net=host "$OUT/peer"
}

# Calls with random arguments do not end the emulator.
test_random() {
    local seed
    for seed in 1 2 3 4; do
        fresh "$OUT/dir" >/dev/null
        status=0
        (cd "$OUT/dir" && timeout 300 "$CROFT" run "$OUT/random" "$seed" 20000) >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
        check "random calls, seed $seed: status $status" [ "$status" = 0 ]
    done
}

# Succeeds if the last run has ended with a message that its status calls for: croft itself has neither crashed nor hung.
explained() {
    case $status in
        0) ;;
        1 | 2) grep -qE '^croft( run)?: ' "$OUT/errors" ;;
        124) grep -q '(--max-insns)' "$OUT/errors" ;;
        132) grep -q 'illegal instruction' "$OUT/errors" ;;
        139) grep -qE '^croft: .* (at|to) 0x[0-9a-f]+' "$OUT/errors" ;;
        *) false ;;
    esac
}

# Damages one byte of the program's headers at a time: a message or a run, but no crash.
test_damage() {
    local at value
    for at in 4 5 7 16 18 20 32 33 40 48 52 54 56 64 68 72 80 88 96 104 112 120 128 136 144 152 160; do
        for value in '\0' '\1' '\377'; do
            cp "$OUT/faults" "$OUT/damaged"
            printf '%b' "$value" | dd of="$OUT/damaged" bs=1 seek=$at conv=notrunc status=none
            status=0
            timeout 60 "$CROFT" run --max-insns 1000000 "$OUT/damaged" >"$OUT/output" 2>"$OUT/errors" || status=$?
            check "byte $at set to $value: status $status" explained
        done
    done
    head -c 100 "$OUT/faults" >"$OUT/damaged"
    says "truncated" 1 "damaged: " "$OUT/damaged"
}

# foreign NAME AT BYTE TEXT: a program, and a dynamic linker, whose byte at an offset of the header is this one, are refused.
foreign() {
    local program
    for program in "$OUT/cxx" "$OUT/cxx-dynamic" "$OUT/root/lib/ld-linux-riscv64-lp64d.so.1"; do
        cp "$program" "$OUT/kept"
        cp "$program" "$OUT/damaged"
        printf '%b' "$3" | dd of="$OUT/damaged" bs=1 seek="$2" conv=notrunc status=none
        if [ "$program" = "$OUT/root/lib/ld-linux-riscv64-lp64d.so.1" ]; then
            cp "$OUT/damaged" "$program"
            says "$1, the dynamic linker" 1 "its dynamic linker /lib/ld-linux-riscv64-lp64d.so.1 $4" --sysroot "$OUT/root" "$OUT/cxx-dynamic"
            cp "$OUT/kept" "$program"
        else
            says "$1, $(basename "$program")" 1 "damaged: $4" --sysroot "$sysroot" "$OUT/damaged"
        fi
        check "$1: says what to do" grep -q 'build it with croft cc, or for Linux with riscv64-linux-gnu-gcc' "$OUT/errors"
        check "$1: in one message" [ "$(wc -l <"$OUT/errors")" = 1 ]
    done
}

test_foreign() {
    mkdir -p "$OUT/root/lib"
    cp "$sysroot/lib/ld-linux-riscv64-lp64d.so.1" "$OUT/root/lib"
    foreign "RV32" 4 '\1' "has ELF class 1 (32-bit); only 64-bit programs (class 2) can run"
    foreign "big-endian" 5 '\2' "has data encoding 2; only little-endian programs (encoding 1) can run"
    foreign "x86" 18 '\076' "is for ELF machine 62 (x86-64); only RISC-V (machine 243) can run"
    foreign "Arm" 18 '\267' "is for ELF machine 183 (64-bit Arm); only RISC-V (machine 243) can run"
    foreign "RV64E" 48 '\015' "uses the 16-register base RV64E; only RV64I programs can run"
    cp "$OUT/cxx" "$OUT/root/lib/ld-linux-riscv64-lp64d.so.1"
    says "a program as dynamic linker" 1 "its dynamic linker /lib/ld-linux-riscv64-lp64d.so.1 is not a position-independent program" --sysroot "$OUT/root" "$OUT/cxx-dynamic"
    echo text >"$OUT/root/lib/ld-linux-riscv64-lp64d.so.1"
    says "a text as dynamic linker" 1 "its dynamic linker /lib/ld-linux-riscv64-lp64d.so.1 is truncated" --sysroot "$OUT/root" "$OUT/cxx-dynamic"
    ln -sf /lib/ld-linux-riscv64-lp64d.so.1 "$OUT/root/lib/ld-linux-riscv64-lp64d.so.1"
    says "a link to itself" 1 "does not have (Too many levels of symbolic links)" --sysroot "$OUT/root" "$OUT/cxx-dynamic"
}

test_repeats() {
    croft cxx -m nucd --set host.count=3 --stats "$OUT/first.json"
    croft cxx -m nucd --set host.count=3 --stats "$OUT/second.json"
    without_host "$OUT/first.json" >"$OUT/first"
    without_host "$OUT/second.json" >"$OUT/second"
    check "two runs have the same statistics" cmp -s "$OUT/first" "$OUT/second"
}

# What is not beneath --dir has numbers and times of the program's, however and by whom croft is run.
test_own_files() {
    local machine folder
    for machine in functional ddr3 "virt --env kernel"; do
        # shellcheck disable=SC2086 # options are words
        croft inodes -m $machine
        check "files of the program's own, $machine: $status: $(grep ', not ' "$OUT/output")" [ "$status" = 0 ]
        cp "$OUT/output" "$OUT/wanted"
        sleep 0.1
        # shellcheck disable=SC2086 # as above
        croft inodes -m $machine
        check "files of the program's own, $machine, again" cmp -s "$OUT/output" "$OUT/wanted"
    done
    if folder=$(mktemp -d /dev/shm/croft.XXXXXX); then # what the user has named there is the host's
        echo "a library" >"$folder/library"
        for machine in "$folder" /dev/shm /; do
            ends "--dir $machine" 0 --dir "$machine" "$OUT/sysroot" read "$folder/library"
            check "--dir $machine: $(cat "$OUT/output")" [ ! -s "$OUT/output" ]
        done
        rm -r "$folder"
    fi
    [ "$(id -u)" = 0 ] || return 0
    if ! setpriv --reuid 65534 --clear-groups test -x "$CROFT"; then
        echo "other users cannot reach $CROFT: memory with names for another user is skipped"
        return 0
    fi
    croft shared
    cp "$OUT/output" "$OUT/wanted"
    chmod 777 "$(fresh "$OUT/dir")"
    status=0
    (cd "$OUT/dir" && setpriv --reuid 65534 --clear-groups timeout 300 "$CROFT" run "$OUT/shared" argument) >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
    check "memory with names for another user: status $status" [ "$status" = 0 ]
    check "memory with names for another user" cmp -s "$OUT/output" "$OUT/wanted"
}

# Where the host has no room for the mirror of the program's pages, programs do the same in the same time.
test_mirror() {
    local name
    for name in code signals threads memory; do
        croft "$name" -m virt --set harts=2 --stats "$OUT/mirrored.json"
        without_host "$OUT/mirrored.json" >"$OUT/wanted"
        (ulimit -v 20000000 2>/dev/null || exit
            croft "$name" -m virt --set harts=2 --stats "$OUT/plain.json") ||
            { echo "the host refuses ulimit -v: programs without the mirror are skipped"; return; }
        without_host "$OUT/plain.json" >"$OUT/output"
        check "$name without the mirror: statistics" cmp -s "$OUT/wanted" "$OUT/output"
    done
}

# What the host limits, and what whoever starts croft has left to it, does not reach programs.
test_host() {
    local pages
    for pages in {66500..66503}; do # by which of them the host has none left depends on what else it maps
        croft areas --setenv PAGES="$pages"
        check "$pages mappings: status $status, not 0" [ "$status" = 0 ]
        check "$pages mappings: the host's permissions" [ "$(cat "$OUT/output")" = $((pages / 2)) ]
    done
    croft signals
    cp "$OUT/output" "$OUT/wanted"
    local ends=$status
    status=0
    (cd "$(fresh "$OUT/dir")" && ulimit -f 1000 && env --block-signal=SEGV "$CROFT" run --setenv NAME=value "$OUT/signals" argument) \
        >"$OUT/output" 2>"$OUT/errors" </dev/null || status=$?
    check "small files only, SIGSEGV blocked: status $status, not $ends" [ "$status" = "$ends" ]
    check "small files only, SIGSEGV blocked: output" cmp -s "$OUT/output" "$OUT/wanted"
}

# Our headers are C and C++, for the compilers of Linux programs, too.
test_headers() {
    local header name
    for header in isa/include/croft/*.h isa/include/croft/approx/*.h; do
        name=${header#isa/include/croft/}
        case $name in approx/axram.h | approx/ngpu.h | sigmoid_table.h) continue ;; esac # parts of a network that croft neural writes
        echo "#include <croft/$name>" >"$OUT/header.c"
        cp "$OUT/header.c" "$OUT/header.cc"
        check "$name in C" "$CROFT" cc --linux -std=c11 -Wall -Wextra -Werror -fsyntax-only "$OUT/header.c"
        check "$name in C++" "$CROFT" c++ -std=c++17 -Wall -Wextra -Werror -Wno-missing-field-initializers -fsyntax-only "$OUT/header.cc"
        check "$name by Clang" clang --target=riscv64-linux-gnu -march=rv64gc -isystem "$sysroot/include" -isystem isa/include \
            -std=c11 -Wall -Wextra -Werror -fsyntax-only "$OUT/header.c"
    done
}

# offloads NAME OPTIONS...: the program's output is qemu-riscv64's, and accelerators have executed its 20 tasks.
offloads() {
    croft regions "${@:2}" --stats "$OUT/stats.json"
    check "regions, $1: status $status" [ "$status" = 0 ]
    check "regions, $1: output" cmp -s "$OUT/output" "$OUT/regions.wanted"
    check "regions, $1: nothing to say" [ ! -s "$OUT/errors" ]
    check "regions, $1: tasks" [ "$(sed -n '/"total"/,/"regions"/s/^ *"accel\.[0-9]*\.tasks": \([0-9]*\),*$/\1/p' "$OUT/stats.json" | paste -sd+ | bc)" = 20 ]
}

test_offloads() {
    local mode
    "$CROFT" c++ -std=c++17 -Wall -Wextra -Werror -O2 -static examples/linux/regions.cc -o "$OUT/regions"
    ask regions
    cp "$OUT/regions.wanted" "$OUT/wanted"
    offloads "one host" -m nucd
    offloads "three hosts" -m nucd --set host.count=3
    offloads "two accelerators" -m nucd --set accel.count=2
    "$CROFT" c++ -std=c++17 -O0 examples/linux/regions.cc -o "$OUT/regions" # position-independent
    offloads "dynamic" -m nucd --set host.count=2 --sysroot "$sysroot"
    offloads "dynamic and checked" -m nucd --check nucd --sysroot "$sysroot"
    "$CROFT" cc --linux -Wall -Werror -O2 -static "$programs/turns.c" -o "$OUT/turns"
    ask turns
    equal turns "regions longer than a turn" -m nucd
    equal turns "regions longer than a turn, in order" -m nucd --set host.core=inorder --set accel.count=4
    equal turns "regions longer than a turn, two hosts beneath the kernel" --env kernel -m nucd --set host.count=2
    "$CROFT" cc --linux -O1 -static "$programs/region.c" -o "$OUT/region"
    printf 'written by a region\n%.0s' 1 2 3 >"$OUT/wanted"
    echo "done" >>"$OUT/wanted"
    for mode in nucd ideal driver; do
        croft region -m nucd --set nucd.mode=$mode
        check "calls in regions, mode $mode: status $status" [ "$status" = 0 ]
        check "calls in regions, mode $mode" cmp -s "$OUT/output" "$OUT/wanted"
    done
    says "a region's fault" 139 "store of 4 bytes to 0x123450, where nothing is mapped" -m nucd "$OUT/region" fault
    check "names the accelerator" grep -q '^  on accelerator 0, in the task of the nucd at 0x' "$OUT/errors"
    says_of "croft cc --linux" "--linux is for riscv64-linux-gnu-gcc" cc --linux --bare none.c
}

# launched NAME PROGRAM LAUNCHES OPTIONS...: output and status are qemu-riscv64's, and multiprocessors have executed the launches.
launched() {
    equal "$2" "$1" "${@:4}" --stats "$OUT/stats.json"
    check "$2, $1: launches" grep -q "\"simt.launches\": $3," "$OUT/stats.json"
}

# The library of host/linux says why AxRAM's instructions are illegal, and where they are not.
test_chips() {
    riscv64-linux-gnu-gcc -O2 -Wall -Werror -I. -c host/linux/offload.c -o "$OUT/offload.o"
    "$CROFT" cc --linux -O1 -static "$programs/chips.c" "$OUT/offload.o" -o "$OUT/chips"
    says "chips that a machine lacks" 132 "libnucd: an instruction of AxRAM: the machine has no such chips, or the region is not in their memory, which <croft/axram_memory.h> gets from /dev/axram (host/linux/README.md)" \
        -m nucd "$OUT/chips"
    croft chips -m axram
    echo "12 chips" >"$OUT/wanted"
    check "chips of machine axram: status $status" [ "$status" = 0 ]
    check "chips of machine axram" cmp -s "$OUT/output" "$OUT/wanted"
}

# Kernels on multiprocessors, launched by several of the program's threads.
test_launches() {
    local machine header
    for header in stash dma; do
        printf '#include <croft/%s.h>\n' "$header" >"$OUT/refused.c"
        cat >>"$OUT/refused.c" <<'END'
static struct { float x, y; } points[32];
void kernel(void)
{
    const struct croft_stash_map tile = croft_stash_tile_of(0, points, x, .objects = 32);
    OPERATE;
}
END
        case $header in stash) header='(void)croft_stash_add(&tile)' ;; dma) header='croft_dma_load(&tile)' ;; esac
        check "$header in a program of Linux" eval "! '$CROFT' cc --linux -c -O1 '-DOPERATE=$header' '$OUT/refused.c' -o '$OUT/refused.o' 2>'$OUT/errors'"
        check "$header: the message" grep -qF "programs of Linux have neither croft/stash.h nor croft/dma.h; compile this one with croft cc, without --linux" "$OUT/errors"
    done
    "$CROFT" cc --linux -std=gnu17 -Wall -Wextra -Werror -O1 -static "$programs/launches.c" -o "$OUT/launches"
    ask launches
    equal launches "without multiprocessors"
    launched "no clock" launches 24 --set simt.count=2
    launched "three harts" launches 24 -m virt --set simt.count=2 --set harts=3
    launched "one host with a clock" launches 24 -m gpu
    without_host "$OUT/stats.json" >"$OUT/first"
    launched "again" launches 24 -m gpu
    without_host "$OUT/stats.json" >"$OUT/second"
    check "two runs with launches have the same statistics" cmp -s "$OUT/first" "$OUT/second"
    launched "two hosts with a clock" launches 24 -m gpu --set host.count=2
    "$CROFT" cc --linux -std=gnu17 -Wall -Wextra -Werror -O1 -static "$programs/launch_handlers.c" -o "$OUT/handlers"
    printf '%s\n' "launches 1 and 2, waits 0 and 0, value 7" "launch 4, wait 0, value 9" \
        "launches 5 and 6, waits 0 and 0, value 7" "launches 7 and 8, waits 0 and 0, value 7" >"$OUT/handled"
    for machine in "functional --set simt.count=2" "virt --set simt.count=2 --set harts=3" "gpu" "gpu --env kernel"; do
        # shellcheck disable=SC2086 # options are words
        ends "launches: handlers, $machine" 0 -m $machine "$OUT/handlers"
        check "launches of handlers, $machine" cmp -s "$OUT/output" "$OUT/handled"
    done
    "$CROFT" cc --linux -std=gnu17 -Wall -Wextra -Werror -O1 -static "$programs/launch_input.c" -o "$OUT/launch-input"
    for machine in gpu "gpu --set host.count=2" "gpu --env kernel" "functional --set simt.count=2"; do
        # shellcheck disable=SC2086 # as above
        waits "launches: input beside a kernel, $machine" $'kernel 64000\npoll 1' "$CROFT" run -m $machine "$OUT/launch-input"
    done
    "$CROFT" c++ -std=c++17 -Wall -Wextra -Werror -O0 examples/linux/kernels.cc -o "$OUT/kernels" # position-independent
    ask kernels -L "$sysroot"
    launched "dynamic" kernels 2 -m gpu --sysroot "$sysroot"
    "$CROFT" c++ -std=c++17 -Wall -Wextra -Werror -O2 -static examples/linux/kernels.cc -o "$OUT/kernels"
    launched "beside regions" kernels 2 -m undercroft
    check "kernels: tasks" grep -q '"accel.0.tasks": 4,' "$OUT/stats.json"
    for machine in functional gpu; do
        ends "launches: calls, $machine" 0 -m $machine --set simt.count=2 "$OUT/launches" calls
        check "calls of launches, $machine" grep -qx "0 wrong calls" "$OUT/output"
        says "launches: thread-local storage, $machine" 139 "in thread-local storage, which threads of kernels in programs of Linux do not have" \
            -m $machine --set simt.count=2 "$OUT/launches" local
        says "launches: fault, $machine" 139 "store of 4 bytes to 0x8, where nothing is mapped" -m $machine --set simt.count=2 "$OUT/launches" fault
        check "names the thread, $machine" grep -qF "in thread (0, 0, 0) of block (0, 0, 0) of launch 1, lane 0 of warp 0" "$OUT/errors"
        ends "launches: the program's end, $machine" 5 -m $machine --set simt.count=2 "$OUT/launches" end
        says "launches: calls in kernels, $machine" 0 "system call 222, mmap, at 0x" -m $machine --set simt.count=2 "$OUT/launches" call
        check "calls in kernels, $machine" [ "$(cat "$OUT/output")" = "a kernel writes"$'\n'"result 2" ]
        says "launches: limit, $machine" 124 "(--max-insns), of which warps have executed" -m $machine --set simt.count=2 --max-insns 1000000 \
            "$OUT/launches" forever
        check "names the launch, $machine" grep -qE "^  thread 1 waits in simt_(wait\(0|launch\()\) for launch 1: forever" "$OUT/errors"
    done
}

# says_of NAME TEXT ARGUMENTS...: a usage error of croft.
says_of() {
    status=0
    "$CROFT" "${@:3}" >"$OUT/output" 2>"$OUT/errors" || status=$?
    check "$1: status $status, not 2" [ "$status" = 2 ]
    check "$1 says '$2'" grep -qF -- "$2" "$OUT/errors"
}

test_cmake() {
    command -v cmake >/dev/null || { echo "cmake is not installed: its example is skipped"; return; }
    cmake -S examples/linux/cmake -B "$OUT/cmake" -DCMAKE_TOOLCHAIN_FILE="$PWD/examples/linux/riscv64-linux.cmake" >"$OUT/output" 2>&1
    check "cmake builds" cmake --build "$OUT/cmake" >>"$OUT/output" 2>&1
    check "ctest" env -C "$OUT/cmake" ctest >>"$OUT/output" 2>&1
}

build
mkdir -p "$OUT/dir"
test_table
test_calls
test_addresses
test_dynamic
test_faults
test_escapes
test_sysroot
test_input
test_waits
test_streams
test_network
test_stopped_server
test_openmp
test_fortran
test_random
test_damage
test_foreign
test_repeats
test_own_files
test_mirror
test_host
test_headers
test_offloads
test_chips
test_launches
test_kernel
test_cmake
conclude
