#!/bin/bash
# The test suite of `make test`: builds what is missing, runs every suite, and prints totals. make calls it
# with MAKE, BUILD and SETUP set. SUITES="unit streams" runs only these suites (named at the end of this
# file).
set -euo pipefail
cd "$(dirname "$0")/.."

logs=$BUILD/tests/logs
# The fuzzers are compiled by Clang, too.
if [ -n "${CI:-}" ]; then by_clang=fuzz; else by_clang=clang; fi
suites=${SUITES:-unit isa streams env kernel programs simt machines hazards firmware boot gdb demo pages papers sanitize $by_clang}
passed=0
failed=0
mkdir -p "$logs"

# Builds targets on all cores, unless the user has set a number of jobs.
build() {
    local jobs=(-j"$(nproc)")
    case " ${MAKEFLAGS:-} " in
    *" -j"* | *--jobserver*) jobs=() ;;
    esac
    "$MAKE" --no-print-directory -s "${jobs[@]}" BUILD="$BUILD" SETUP="$SETUP" "$@"
}

# Prints the numbers of passed and failed tests in a log, from its "N passed, N failed" line or from cmocka's
# lines.
count() {
    awk '/^[0-9]+ passed, [0-9]+ failed$/ { own = 1; p = $1; f = $3 }
         /^\[  PASSED  \] [0-9]+ test/ { cp += $4 }
         /^\[  FAILED  \] [0-9]+ test/ { cf += $4 }
         /^\[  ERROR   \] .* SETUP|^\[  FAILED  \] GROUP SETUP/ { cf++ }
         END { if (own) print p + 0, f + 0; else print cp + 0, cf + 0 }' "$1"
}

# Suites run side by side, as many as there are processors (TEST_JOBS sets another number); what they print stays in order.
# lines holds what is to be printed: text, or, behind a tab, the number of a suite.
slots=${TEST_JOBS:-$(nproc)}
lines=()
shown=0
suites_begun=0
rm -f "$logs"/*.result

# Prints all lines up to the first suite that has not ended, and adds the counts of suites.
show() {
    local line result p f
    while [ "$shown" -lt "${#lines[@]}" ]; do
        line=${lines[shown]}
        if [[ $line == $'\t'* ]]; then
            result=$logs/${line#?}.result
            if [ ! -e "$result" ]; then return; fi
            read -r p f <"$result"
            passed=$((passed + p))
            failed=$((failed + f))
            tail -n +2 "$result"
        else
            printf '%s\n' "$line"
        fi
        shown=$((shown + 1))
    done
}

# say TEXT: prints it after the suites that have begun.
say() {
    lines+=("$1")
    show
}

# Waits until all suites have ended.
finish() {
    wait
    show
}

# execute NUMBER NAME COMMAND...: runs the command and writes its counts and what is to be printed, its log included if a
# test failed. A command that fails without counting a failure, or that counts nothing, counts as one failure.
execute() {
    local number=$1 name=$2 status=0 p f start=$SECONDS
    shift 2
    local log=$logs/${name//[ :\/]/_}.log
    "$@" >"$log" 2>&1 </dev/null || status=$?
    read -r p f < <(count "$log")
    if { [ "$status" -ne 0 ] && [ "$f" -eq 0 ]; } || [ $((p + f)) -eq 0 ]; then
        f=$((f + 1))
    fi
    {
        printf '%d %d\n' "$p" "$f"
        printf '  %-40s %5d passed, %d failed  (%d s)\n' "$name" "$p" "$f" $((SECONDS - start))
        if [ "$f" -ne 0 ]; then
            printf '    exit status %d; %s ends:\n' "$status" "$log"
            grep -v '^\[       OK \]\|^\[ RUN      \]' "$log" | tail -n 40 | sed 's/^/    /'
        fi
    } >"$logs/$number.new"
    mv "$logs/$number.new" "$logs/$number.result"
}

# suite NAME COMMAND...: runs the command as soon as a processor is free.
suite() {
    while [ "$(jobs -rp | wc -l)" -ge "$slots" ]; do
        wait -n || true
        show
    done
    suites_begun=$((suites_begun + 1))
    lines+=($'\t'"$suites_begun")
    execute "$suites_begun" "$@" &
    show
}

# alone NAME COMMAND...: the same, with no other suite at its side.
alone() {
    finish
    suite "$@"
    finish
}

# Lists the files of the tree, without those of the build folder.
tree_files() {
    find . \( -path ./.git -o -samefile "$BUILD" \) -prune -o -print | sort
}

# Suites leave nothing in the tree: fails if it has files, links or folders that it did not have at the start.
tidy() {
    local left
    left=$(comm -13 "$logs/files" <(tree_files))
    [ -z "$left" ] && echo "1 passed, 0 failed" && return
    printf 'left in the tree:\n%s\n0 passed, 1 failed\n' "$left"
    return 1
}

tree_files >"$logs/files"

# part NAME TEXT: succeeds if the part is selected, and announces it.
part() {
    case " $suites " in
    *" $1 "*) say "$1: $2" ;;
    *) return 1 ;;
    esac
}

# built TARGET...: builds; counts a failed build as a failed test.
built() {
    if ! build "$@" >"$logs/build.log" 2>&1; then
        failed=$((failed + 1))
        say "  build of $* FAILED:
$(tail -n 40 "$logs/build.log" | sed 's/^/    /')"
        return 1
    fi
}

unit_tests() {
    local where=$1 label=$2 program
    for program in $(find tests -name 'test_*.c' | sort); do
        program=${program#tests/}
        suite "$label${program%.c}" "$where/tests/${program%.c}"
    done
}

streams() {
    local where=$1 label=$2
    shift 2
    local kind
    for kind in "$@"; do
        mkdir -p "$where/tests/hart/$kind"
        suite "$label$kind streams" "$where/tests/hart/streams" "$kind" "$BUILD/tests/hart/runner" "$where/tests/hart/$kind"
    done
}

# timed_programs NAME FOLDER: runs a few short programs on timed cores.
timed_programs() {
    local machine program programs=()
    for program in abort atomics calendar exit_order folders json lines trap_jump trap_load varargs; do
        programs+=("$BUILD/tests/programs/$program-O2")
    done
    for machine in ddr3 nucd; do
        suite "$1: programs on $machine" env CROFT_OPTIONS="-m $machine --check coherence" tests/programs/run.sh \
            "$2/bin/croft" "$2/tests/programs/$machine" "${programs[@]}"
    done
}

# other_build NAME TARGETS SETTING...: a build with other settings, with these targets beside the program, and the tests that
# depend on how our code is compiled.
other_build() {
    local name=$1 where=$BUILD/$1 targets=$2
    shift 2
    built "$BUILD/tests/hart/runner" programs || return 0
    # shellcheck disable=SC2086 # targets are words
    BUILD=$where SETUP=no built "$@" $targets all "$where/tests/hart/streams" "$where/tests/isa/objdump" || return 0
    if [[ $targets == *unit-tests* ]]; then unit_tests "$where" "$name: "; fi
    STREAMS=${STREAMS_SMALL:-0.1} streams "$where" "$name: " directed random
    suite "$name: objdump" env RANDOM_WORDS=200000 tests/isa/objdump.sh "$where/tests/isa/objdump" "$where/tests/isa/work"
    local programs=("$BUILD"/tests/programs/*-O2)
    suite "$name: programs" tests/programs/run.sh "$where/bin/croft" "$where/tests/programs/work" "${programs[@]}"
    timed_programs "$name" "$where"
}

demo() {
    if "$MAKE" --no-print-directory demo BUILD="$BUILD" SETUP="$SETUP"; then
        echo "1 passed, 0 failed"
    else
        echo "0 passed, 1 failed"
    fi
}

say "Packages, emulator, newlib"
built "$BUILD/setup-build.stamp" "$BUILD/setup-test.stamp" || exit 1
built all || exit 1

if part check "what the change since ${BASE:=HEAD} may have broken, and a sample"; then
    mapfile -t chosen < <(tests/check.sh choose "$BUILD" "$BASE")
    targets=()
    for line in "${chosen[@]}"; do
        IFS=$'\t' read -r name target command <<<"$line"
        if [ -z "$command" ]; then
            say "  $name"
        elif [ "$target" != - ]; then
            eval "targets+=($target)"
        fi
    done
    if [ "${#chosen[@]}" -gt 0 ] && built "${targets[@]}"; then
        for line in "${chosen[@]}"; do
            IFS=$'\t' read -r name target command <<<"$line"
            if [ -n "$command" ]; then suite "$name" bash -c "$command"; fi
        done
    else
        failed=$((failed + 1))
    fi
fi
if part unit "unit tests"; then
    built unit-tests && unit_tests "$BUILD" ""
    suite "manual is up to date" "$MAKE" --no-print-directory -s manual-check BUILD="$BUILD" SETUP="$SETUP"
    suite "flags of objects" tests/flags.sh "$MAKE" tests/flags.txt
fi
if part isa "decoder and disassembler against GNU objdump and as"; then
    built "$BUILD/tests/isa/objdump" && suite "objdump" tests/isa/objdump.sh "$BUILD/tests/isa/objdump" "$BUILD/tests/isa/work"
    suite "chosen extensions" tests/isa/isa.sh "$BUILD/bin/croft"
    alone "rows" tests/isa/rows.sh "$BUILD" "$MAKE"
fi
if part streams "instructions against qemu-riscv64 and libunicorn"; then
    built "$BUILD/tests/hart/streams" "$BUILD/tests/hart/runner" "$BUILD/tests/hart/rounding" &&
        streams "$BUILD" "" directed random unicorn &&
        suite "rounding" tests/hart/rounding.sh "$BUILD/bin/croft" "$BUILD/tests/hart/rounding"
    if [ -n "${ALL:-}" ] && built "$BUILD/tests/jit/soak" programs; then
        suite "random regions" tests/jit/soak.sh "$BUILD/tests/jit/soak" "${SOAK_JIT:-1000000000}" "${HAZARD_SEED:-1}"
        suite "all compiled systems" tests/jit/systems.sh "$BUILD/bin/croft" "$BUILD/tests/jit/all"
        suite "all compiled programs" tests/jit/programs.sh "$BUILD/bin/croft" "$BUILD/tests/jit/all_programs" "$BUILD"/tests/programs/*-O2
    fi
fi
if part env "user environment, loader, command line"; then
    built "$BUILD/tests/debug/check_backtrace" &&
        suite "environment" "$MAKE" --no-print-directory -s test-env BUILD="$BUILD" SETUP="$SETUP"
fi
if part env "installation"; then
    suite "installation" tests/cmd/install.sh "$MAKE" "$BUILD"
    suite "mistakes of newcomers" tests/cmd/mistakes.sh "$BUILD/bin/croft"
    suite "manual pages and completion" tests/cmd/help.sh "$BUILD"
fi
if part env "experiments and pictures"; then
    suite "experiments" tests/cmd/experiment.sh "$BUILD/bin/croft"
    suite "plans of experiments" tests/cmd/experiment_plan.sh "$BUILD/bin/croft"
    suite "engines of experiments" tests/cmd/experiment_engines.sh "$BUILD/bin/croft"
    suite "pages of results" tests/cmd/report.sh "$BUILD/bin/croft"
    suite "killed experiments" tests/cmd/experiment_kill.sh "$BUILD/bin/croft" 8
    suite "networks" tests/cmd/net.sh "$BUILD/bin/croft"
    suite "memories" tests/cmd/dram.sh "$BUILD/bin/croft"
    suite "the library's interface" tests/api/abi.sh emu/api/undercroft.h emu/api/undercroft.map tests/api/undercroft_1.abi
    suite "the library" tests/api/api.sh "$BUILD/lib/pkgconfig" "$BUILD/bin/croft" examples "$BUILD/share/croft/python"
    suite "pictures of machines" tests/cmd/graph.sh "$BUILD/bin/croft"
fi
if part papers "pages of the papers"; then
    suite "papers" tests/cmd/papers.sh "$BUILD/bin/croft"
fi
if part env "programs of Linux against qemu-riscv64"; then
    suite "programs of Linux" "$MAKE" --no-print-directory -s test-linux BUILD="$BUILD" SETUP="$SETUP"
fi
if part kernel "user programs beneath the kernel"; then
    suite "kernel environment" "$MAKE" --no-print-directory -s test-kernel BUILD="$BUILD" SETUP="$SETUP"
    suite "kernel, driver" "$MAKE" --no-print-directory -s test-driver BUILD="$BUILD" SETUP="$SETUP"
    suite "kernel, several hosts" "$MAKE" --no-print-directory -s test-hosts BUILD="$BUILD" SETUP="$SETUP"
    built programs &&
        suite "kernel, programs" "$MAKE" --no-print-directory -s test-kernel-programs BUILD="$BUILD" SETUP="$SETUP"
fi
if part programs "whole programs against qemu-riscv64"; then
    built programs && suite "programs" "$MAKE" --no-print-directory -s test-programs BUILD="$BUILD" SETUP="$SETUP"
    built programs && suite "compiled programs" tests/jit/programs.sh "$BUILD/bin/croft" "$BUILD/tests/jit/work" "$BUILD"/tests/programs/*-O2
    suite "regions that cannot be" tests/nucd/refused.sh "$BUILD/bin/croft"
    suite "regions that do wrong" tests/nucd/wrongs.sh "$BUILD/bin/croft"
    suite "accesses that nucds do not name" tests/nucd/check.sh "$BUILD/bin/croft"
    suite "traces of tasks" tests/nucd/trace.sh "$BUILD/bin/croft"
    suite "loops that become tasks" tests/nucd/loops.sh "$BUILD/bin/croft"
    suite "loops that do not become tasks" tests/nucd/refusals.sh "$BUILD/bin/croft"
    suite "an oracle for ranges" tests/nucd/oracle.sh "$BUILD/bin/croft" "$BUILD/tests/nucd/oracle"
    suite "offloaded regions" "$MAKE" --no-print-directory -s test-offloads BUILD="$BUILD" SETUP="$SETUP"
fi
if part simt "kernels on multiprocessors against qemu-riscv64"; then
    suite "launches that cannot be" tests/simt/refused.sh "$BUILD/bin/croft"
    suite "launches of several hosts" "$MAKE" --no-print-directory -s test-launch-hosts BUILD="$BUILD" SETUP="$SETUP"
    built simt-programs && suite "simt" "$MAKE" --no-print-directory -s test-simt BUILD="$BUILD" SETUP="$SETUP"
    built stash-programs && suite "maps of local memory" tests/stash/run.sh "$BUILD/bin/croft" "$BUILD/tests/stash/programs"
    built stash-programs && suite "machines with a stash" tests/stash/machine.sh "$BUILD/bin/croft" "$BUILD/tests/stash/programs" "$BUILD/tests/stash/machine"
    suite "DMA engines" tests/stash/dma.sh "$BUILD/bin/croft" "$BUILD/tests/stash/dma"
    built stash-examples && suite "workloads of the stash paper" tests/stash/workloads.sh "$BUILD/bin/croft" "$BUILD/examples/stash"
    built workloads && suite "workloads" tests/simt/workloads.sh "$BUILD/bin/croft" "$BUILD/tests/simt/workloads" \
        "$BUILD"/examples/workloads/*
    suite "regions of threads" tests/nucd/threads.sh "$BUILD/bin/croft"
    built simt-examples && suite "candidates" tests/cmd/candidates.sh "$BUILD/bin/croft" "$BUILD/examples/simt"
    suite "candidates for maps" tests/cmd/candidates_stash.sh "$BUILD/bin/croft"
    suite "hints of candidates" tests/cmd/offload.sh "$BUILD/bin/croft" examples/simt
    built simt-examples && suite "trees of parts" tests/machine/trees.sh "$BUILD/bin/croft" "$BUILD/tests/machine/trees" \
        "$BUILD/examples/simt"
    built simt-examples && suite "pages" tests/machine/pages.sh "$BUILD/bin/croft" "$BUILD/tests/machine/pages" "$BUILD/examples/simt"
    built simt-examples && suite "offloaded blocks" tests/tom/tom.sh "$BUILD/bin/croft" "$BUILD/tests/tom/work" \
        "$BUILD/examples/simt"
    suite "bandwidth" tests/tom/bandwidth.sh "$BUILD/bin/croft" "$BUILD/tests/tom/bandwidth"
    suite "neural units in lanes" tests/ngpu/ngpu.sh "$BUILD/bin/croft" "$BUILD/tests/ngpu/work"
    suite "accelerators in chips" tests/axram/axram.sh "$BUILD/bin/croft" "$BUILD/tests/axram/work"
    suite "approximation in chips" tests/axram/approx.sh "$BUILD/bin/croft" "$BUILD/tests/axram/approx"
    suite "accelerator memory" tests/axram/memory.sh "$BUILD/bin/croft" "$BUILD/tests/axram/memory"
    [ -z "${ALL:-}" ] || { built "$BUILD/tests/axram/test_controller" && built "$BUILD/tests/axram/test_team" &&
        suite "random networks in chips" tests/axram/soak.sh "$BUILD"/tests/axram/test_{controller,team}; }
    built simt-examples && suite "prefetchers" tests/machine/prefetch.sh "$BUILD/bin/croft" "$BUILD/tests/machine/prefetch" "$BUILD/examples/simt"
    built simt-examples && built workloads && suite "nupim" tests/machine/nupim.sh "$BUILD/bin/croft" "$BUILD/tests/machine/nupim" "$BUILD/examples/simt" \
        "$BUILD/examples/workloads/bfs"
    built "$BUILD/tests/neural/print_networks" && suite "neural networks" tests/neural/neural.sh "$BUILD/bin/croft" \
        "$BUILD/tests/neural/work" "$BUILD/tests/neural/print_networks"
    built axram-examples && suite "axram applications" tests/neural/apps.sh "$BUILD/bin/croft" "$BUILD/tests/neural/apps" \
        "$BUILD"/examples/axram/*
fi
if part machines "whole programs and statistics on machines with a clock"; then
    built programs machines &&
        suite "machines" tests/machine/programs.sh "$BUILD/bin/croft" "$BUILD/tests/machine/work" "$BUILD/tests/programs"
    built programs && suite "offload engine" tests/nucd/engine.sh "$BUILD/bin/croft" "$BUILD/tests/nucd/work" \
        "$BUILD"/tests/programs/nucd_{ebox,meabo2,meabo5,spatter,spmv,stride}-O2
    suite "a last level at nodes" tests/stash/nodes.sh "$BUILD/bin/croft" "$BUILD/tests/stash/nodes"
    suite "DeNovo in machines" tests/stash/denovo.sh "$BUILD/bin/croft" "$BUILD/tests/stash/denovo"
    suite "random traffic under DeNovo" env SEED="${HAZARD_SEED:-1}" tests/stash/soak.sh "$BUILD/bin/croft" "$BUILD/tests/stash/soak"
    suite "latencies beside the Stash paper's" tests/stash/latency.sh "$BUILD/bin/croft" "$BUILD/tests/stash/latency"
    [ -z "${ALL:-}" ] || { built "$BUILD"/tests/mem/denovo/test_{model,traffic,caches} "$BUILD/tests/stash/test_random" &&
        suite "states of DeNovo" "$BUILD/tests/mem/denovo/test_model" && suite "traffic of DeNovo" "$BUILD/tests/mem/denovo/test_traffic" &&
        suite "traffic of DeNovo's caches" "$BUILD/tests/mem/denovo/test_caches" && suite "traffic of stashes" "$BUILD/tests/stash/test_random"; }
    suite "networks in machines" tests/machine/network.sh "$BUILD/bin/croft" "$BUILD/tests/machine/network"
    suite "partitions of machines" tests/machine/partition_study.sh "$BUILD/bin/croft" "$BUILD/tests/machine/partition_study"
    suite "one run on several threads" env SEED="${HAZARD_SEED:-1}" tests/machine/threads.sh "$BUILD/bin/croft" "$BUILD/tests/machine/threads" \
        "$([ -n "${ALL:-}" ] && echo 50 || echo 4)"
    suite "all mechanisms in one machine" tests/machine/undercroft.sh "$BUILD/bin/croft" "$BUILD/tests/machine/undercroft"
    built stress-writers && suite "random programs on random machines" env STRESS_JOBS="${ALL:+$slots}" STRESS_SEED="${HAZARD_SEED:-1}" \
        STRESS_RUNS="$([ -n "${ALL:-}" ] && echo 10000 || echo 40)" STRESS_PROGRAMS="$([ -n "${ALL:-}" ] && echo 20 || echo 1)" \
        tests/machine/stress/stress.sh "$BUILD/bin/croft" "$BUILD/tests/machine/stress/work" "$BUILD/tests/machine/stress"
    suite "a mechanism in a room of its own" tests/machine/toy.sh "$BUILD" "$MAKE" "$BUILD/tests/machine/toy"
fi
if part hazards "random offloading programs against qemu-riscv64"; then
    suite "hazards" "$MAKE" --no-print-directory -s test-hazards BUILD="$BUILD" SETUP="$SETUP"
    suite "the C library in regions" tests/nucd/library.sh "$BUILD/bin/croft" "$BUILD/tests/nucd/library"
fi
if part firmware "privileged architecture, firmware and semihosting against qemu-system-riscv64"; then
    suite "firmware" env CROFT="$BUILD/bin/croft" OUT="$BUILD/tests/firmware" tests/firmware/run.sh
    suite "compiled systems" tests/jit/systems.sh "$BUILD/bin/croft" "$BUILD/tests/jit/systems"
fi
if part boot "OpenSBI and U-Boot to the prompt; snapshots"; then
    suite "boot" env CROFT="$BUILD/bin/croft" OUT="$BUILD/tests/boot" tests/firmware/boot.sh
    suite "snapshots" env CROFT="$BUILD/bin/croft" OUT="$BUILD/tests/snapshot" tests/firmware/snapshot.sh
fi
if part gdb "sessions of gdb"; then
    suite "gdb" env CROFT="$BUILD/bin/croft" OUT="$BUILD/tests/debug/gdb" tests/debug/gdb.sh
fi
if part demo "the demonstration"; then
    alone "demo" demo
fi
if part pages "the commands and links of all pages"; then
    suite "pages" tests/pages/pages.sh "$BUILD"
    built book && suite "pages as a book" tests/pages/book.sh "$BUILD"
fi
if part clang "compiled by Clang"; then
    other_build clang "${ALL:+unit-tests}" CC=clang
fi
# The search for leaks guesses where a library keeps its threads' data, and for LLVM's it guesses wrong.
export ASAN_OPTIONS=intercept_tls_get_addr=0
if part sanitize "with address and undefined-behaviour sanitizers"; then
    other_build sanitize unit-tests OPTIMIZE="-O1 -g1" \
        SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover -DCROFT_TRAMPOLINE"
fi

if part kills "an experiment killed 50 times"; then
    suite "experiment killed 50 times" tests/cmd/experiment_kill.sh "$BUILD/bin/croft" 50
fi
if part networks "random networks, and 10 million flits with all checks"; then
    built "$BUILD/tests/net/test_network_model" "$BUILD/tests/net/test_network" "$BUILD/tests/net/test_priorities" &&
        suite "random networks" env NETWORKS=3000 SEED="${NETWORK_SEED:-1000}" "$BUILD/tests/net/test_network_model" &&
        suite "saturated networks" env FLITS=10000000 "$BUILD/tests/net/test_network" &&
        suite "saturated networks with priorities" env FLITS=10000000 "$BUILD/tests/net/test_priorities"
fi

if part fuzz "hostile input, ${FUZZ_TIME:-60} s for each fuzzer"; then
    built fuzz-programs && suite "fuzzers" "$MAKE" --no-print-directory -s fuzz BUILD="$BUILD" SETUP="$SETUP"
    suite "loaded files, compiled" tests/fuzz/compiled.sh "$BUILD/bin/croft" "$BUILD/tests/fuzz/compiled"
    suite "keys at their limits" "$MAKE" --no-print-directory -s fuzz-keys BUILD="$BUILD" SETUP="$SETUP" \
        KEY_RUNS="$([ -n "${ALL:-}" ] && echo 20000 || echo 200)"
fi

alone "files left in the tree" tidy
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
