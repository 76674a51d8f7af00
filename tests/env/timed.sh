# User programs on timed machines. run.sh sources this file.
# shellcheck shell=bash disable=SC2154 # OUT, CROFT and here are run.sh's

# Prints the value of a statistic in a file.
value() { sed -nE "s/.*\"$2\": \"?([^\",]*)\"?,?$/\1/p" "$1" | head -n 1; }

compile_timed() {
    "$CROFT" cc -O2 -g "$here/guest_timed.c" -o "$OUT/timed"
}

# Every shipped timed machine computes the same as the functional one and counts time.
test_timed_machines() {
    local machine name
    "$CROFT" run "$OUT/timed" work >"$OUT/wanted"
    for machine in ddr3 gddr5 hmc hmc_tom hbm1 nucd; do
        run 0 "timed on $machine" "$CROFT" run -m "$machine" --check dram --check coherence --stats "$OUT/$machine.json" \
            "$OUT/timed" work
        check "timed on $machine: the output" cmp -s "$OUT/stdout" "$OUT/wanted"
        for name in sim.time host.0.cycles host.0.instructions host.0.l1d.misses l2.misses dram.reads energy; do
            check "$machine counts $name" test "$(value "$OUT/$machine.json" "$name" | wc -c)" -gt 1
        done
        lines "timed on $machine: nothing found" stderr 0
    done
    # shellcheck disable=SC2016 # awk's
    check "cycles are the sum of their causes" awk '
        /"total"/ { total = 1 }
        total && /"host.0.cpi\./ { sum += $2 }
        total && /"host.0.cycles"/ { cycles = $2 + 0 }
        /"regions"/ { exit }
        END { exit sum != cycles || cycles == 0 }' "$OUT/nucd.json"
    run 0 "croft machines" "$CROFT" machines
    says "croft machines" stdout 'nucd '
    run 0 "croft show nucd" "$CROFT" show nucd
    says "croft show nucd" stdout 'tCK: 2 ns  # hbm1: JESD235'
    run 0 "a shown machine runs" "$CROFT" run -m "$OUT/nucd.json.machine.yaml" "$OUT/timed" work
}

# same_stats FILE FILE: compares statistics except for what depends on the host.
same_stats() {
    cmp -s <(without_host "$1") <(without_host "$2")
}

# Statistics repeat to the byte from another folder and under another path. Output goes to pipes, because
# programs query its type.
test_timed_repeats() {
    local machine
    mkdir -p "$OUT/elsewhere/deep"
    cp "$OUT/timed" "$OUT/elsewhere/deep/timed"
    for machine in nucd gddr5; do
        "$CROFT" run -m "$machine" --stats "$OUT/first.json" "$OUT/timed" work | cat >/dev/null
        (cd "$OUT/elsewhere/deep" && "$CROFT" run -m "$machine" --stats "$OUT/again.json" ./timed work | cat >/dev/null)
        check "statistics of $machine repeat" same_stats "$OUT/first.json" "$OUT/again.json"
        check "statistics of $machine are there" grep -q '"host.0.cpi.memory"' "$OUT/first.json"
    done
}

# Clocks, `cycle` and `time` follow simulated time; sleeping takes simulated time.
test_timed_clocks() {
    run 0 "clocks" "$CROFT" run -m ddr3 --stats "$OUT/clocks.json" "$OUT/timed" clocks
    says "clocks" stdout 'time and clock agree'
    says "clocks" stdout 'a cycle is half a nanosecond'
    says "clocks" stdout 'slept for 2 s'
    check "sleeping is simulated time" test "$(value "$OUT/clocks.json" simulated_seconds | cut -d. -f1)" = 2
}

test_timed_limits() {
    run 124 "--max-time" "$CROFT" run -m ddr3 --max-time '100 us' "$OUT/timed" loop
    says "--max-time" stderr 'stopped after 100 us of simulated time (--max-time)'
    run 124 "--max-insns" "$CROFT" run -m nucd --max-insns 54321 "$OUT/timed" loop
    says "--max-insns" stderr 'stopped after 54321 instructions'
    run 139 "a fault in time" "$CROFT" run -m nucd "$OUT/fault" load
    says "a fault in time" stderr 'guest_fault.c:'
}

# With --detail roi, code outside of regions takes one cycle per instruction. The region takes as long as in a
# fully timed run, within one percent.
test_timed_regions() {
    local machine all roi
    for machine in ddr3 nucd; do
        run 0 "all in time" "$CROFT" run -m "$machine" --stats "$OUT/all.json" "$OUT/timed" work
        run 0 "regions in time" "$CROFT" run -m "$machine" --detail roi --stats "$OUT/roi.json" "$OUT/timed" work
        all=$(sed -n '/"regions"/,$p' "$OUT/all.json" | sed -nE 's/.*"host.0.cycles": ([0-9]+).*/\1/p' | head -n 1)
        roi=$(sed -n '/"regions"/,$p' "$OUT/roi.json" | sed -nE 's/.*"host.0.cycles": ([0-9]+).*/\1/p' | head -n 1)
        check "$machine: the region takes $roi cycles, in whole $all" awk "BEGIN { exit !($roi < $all * 1.01 && $roi > $all * 0.99) }"
    done
}

# Several traces in one run have the same bytes as one in each.
test_timed_joined_traces() {
    local kind file
    local -a all=()
    for kind in nucd dram konata perfetto; do
        all+=(--trace "$kind:$OUT/joined.$kind")
        run 0 "trace $kind alone" "$CROFT" run -m nucd --set accel.count=2 --trace "$kind:$OUT/alone.$kind" "$OUT/timed" work
    done
    run 0 "four traces" "$CROFT" run -m nucd --set accel.count=2 "${all[@]}" --stats "$OUT/joined.json" "$OUT/timed" work
    run 0 "no trace" "$CROFT" run -m nucd --set accel.count=2 --stats "$OUT/untraced.json" "$OUT/timed" work
    check "four traces change nothing" same_stats "$OUT/joined.json" "$OUT/untraced.json"
    for kind in nucd dram konata perfetto konata.accel.0 konata.accel.1; do
        check "trace $kind: the same beside others" cmp "$OUT/alone.$kind" "$OUT/joined.$kind"
    done
    run 2 "the same kind twice" "$CROFT" run -m nucd --trace dram --trace "dram:$OUT/second" "$OUT/timed" work
    says "the same kind twice" stderr 'one of each kind'
    run 2 "the same file twice" "$CROFT" run -m nucd --trace dram:trace.json --trace perfetto "$OUT/timed" work
    says "the same file twice" stderr 'the same file, trace.json'
    run 1 "the second file" "$CROFT" run -m nucd --trace "dram:$OUT/joined.dram" --trace konata:/nowhere/file "$OUT/timed" work
    says "the second file" stderr '/nowhere/file'
}

test_timed_traces() {
    local kind
    for kind in perfetto konata dram; do
        run 0 "trace $kind" "$CROFT" run -m hbm1 --trace "$kind:$OUT/trace.$kind" --detail roi --stats "$OUT/traced.json" \
            "$OUT/timed" work
        check "trace $kind: something is there" test -s "$OUT/trace.$kind"
    done
    test_timed_joined_traces
    # The files that --help and README.md name.
    local work file
    work=$(fresh "$OUT/default")
    for kind in perfetto:trace.json konata:trace.kanata dram:trace.dram nucd:trace.csv; do
        file=${kind#*:}
        run 124 "default file of ${kind%:*}" bash -c "cd '$work' && '$CROFT' run -m nucd --trace ${kind%:*} --max-time 1us '$OUT/timed' work"
        check "default file of ${kind%:*}: $file" test -s "$work/$file"
        "$CROFT" run --help >"$OUT/help"
        check "--help names $file" grep -q "[ (]${file}[,)]" "$OUT/help"
    done
    run 0 "no trace" "$CROFT" run -m hbm1 --detail roi --stats "$OUT/untraced.json" "$OUT/timed" work
    check "traces change nothing" same_stats "$OUT/traced.json" "$OUT/untraced.json"
    check "the region is in the trace" grep -q '"work"' "$OUT/trace.perfetto"
    run 0 "log" "$CROFT" run -m ddr3 --log "commit:$OUT/timed.log" "$OUT/stack" x
    run 0 "log" "$CROFT" run --log "commit:$OUT/functional.log" "$OUT/stack" x
    check "the log is the functional one" cmp -s "$OUT/timed.log" "$OUT/functional.log"
    # The log of traps has what the log of instructions says about traps.
    local machine
    run 0 "log" "$CROFT" run --log "insn:$OUT/functional.log" "$OUT/stack" x
    for machine in ddr3 functional; do
        run 0 "log of traps" "$CROFT" run -m "$machine" --log "trap:$OUT/trap.log" "$OUT/stack" x
        check "$machine: has traps" test -s "$OUT/trap.log"
        check "$machine: the log of traps" cmp <(grep -E ': (exception |          tval )' "$OUT/functional.log") "$OUT/trap.log"
    done
}

# The program's output precedes messages about it.
test_timed_order() {
    "$CROFT" cc --bare -O1 -g "$here/guest_stale.c" -o "$OUT/stale"
    "$CROFT" run -m nucd --set accel.count=1 --check coherence "$OUT/stale" >"$OUT/both" 2>&1 </dev/null || true
    # shellcheck disable=SC2016 # awk's
    check "reports stand behind the output" awk '
        /^before$/ { before = NR }
        /, look / { look = NR }
        /^after$/ { after = NR }
        / stale loads, / { sum = NR }
        END { exit !(before && before < look && look < after && after < sum) }' "$OUT/both"
}

# On a terminal, progress is shown even while only the core is busy, with a clock and without, and within compiled code.
test_timed_progress() {
    local options
    for options in "-m ddr3 --max-insns 150000000" "--jit=off --max-insns 2000000000" "--max-insns 10000000000"; do
        script -qec "'$CROFT' run $options '$OUT/timed' loop" /dev/null >"$OUT/stdout" </dev/null || true
        says "progress, $options" stdout ' ms simulated, '
    done
}

# A signal ends a run in an orderly way.
test_timed_signals() {
    local options
    for options in "" "-m ddr3" "-m nucd --env kernel" "-m hmc --trace perfetto:$OUT/trace.signal"; do
        # shellcheck disable=SC2086 # several words
        run 143 "a signal, $options" timeout --preserve-status -k 5 1 "$CROFT" run $options --stats "$OUT/signal.json" "$OUT/timed" loop
        says "a signal, $options" stderr 'stopped by SIGTERM at 0x'
        check "statistics, $options" grep -q '"exit_status": 143' "$OUT/signal.json"
    done
    # The other signals that end programs; a killed run leaves the older file.
    local signal=(HUP 129 QUIT 131 XCPU 152)
    for ((i = 0; i < ${#signal[@]}; i += 2)); do
        run "${signal[i + 1]}" "SIG${signal[i]}" env --default-signal=QUIT timeout -s "${signal[i]}" --preserve-status -k 5 1 \
            "$CROFT" run --stats "$OUT/signal.json" "$OUT/timed" loop
        says "SIG${signal[i]}" stderr "stopped by SIG${signal[i]} at 0x"
        check "statistics after SIG${signal[i]}" grep -q "\"exit_status\": ${signal[i + 1]}" "$OUT/signal.json"
    done
    echo older >"$OUT/signal.json"
    run 137 SIGKILL timeout -s KILL --preserve-status 1 "$CROFT" run --stats "$OUT/signal.json" "$OUT/timed" loop
    check "the older statistics" test "$(cat "$OUT/signal.json")" = older
    check "the trace is closed" test "$(tail -n 1 "$OUT/trace.signal")" = "]"
}

test_timed_usage() {
    usage "unknown kind 'coherense'; did you mean 'coherence'?" run --check coherense x
    usage "allowed: all, roi" run --detail some x
    usage "--max-time: '10' has no unit" run --max-time 10 x
    usage "--max-time: '0 s' is not allowed" run --max-time '0 s' x
    usage "konata" run --trace gantt x
    usage "--trace: '-' is not allowed" run --trace dram:- x
    run 0 "no region" "$CROFT" run -m ddr3 --detail roi --stats "$OUT/none.json" "$OUT/stack" x
    says "no region" stderr 'no region of interest was entered'
    check "the detail is a fact" grep -q '"detail": "roi"' "$OUT/none.json"
    run 1 "a machine without a clock" "$CROFT" run --max-time 1s "$OUT/timed" work
    says "a machine without a clock" stderr "machine 'functional' has no clock"
    run 2 "a key" "$CROFT" run -m nucd --set dram.tRP=1ms "$OUT/timed" work
    says "a key" stderr '--set: dram.tRP: '
    run 0 "an unused key" "$CROFT" run -m ddr3 --set host.rob=64 "$OUT/timed" work
    says "an unused key" stderr 'host.rob (--set) has no effect on this kind of core'
}

test_timed() {
    compile_timed
    test_timed_machines
    test_timed_repeats
    test_timed_clocks
    test_timed_limits
    test_timed_regions
    test_timed_traces
    test_timed_order
    test_timed_progress
    test_timed_signals
    test_timed_usage
}
