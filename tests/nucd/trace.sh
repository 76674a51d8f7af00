#!/bin/bash
# What traces tell of tasks: trace.sh CROFT. The table of --trace nucd agrees with the statistics, with itself and
# with the program; the tracks of --trace perfetto agree with the table. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
here=$(dirname "$0")
scratch
"$croft" cc -O2 -g "$here/programs/trace_tasks.c" -o "$work/tasks"

# trace KIND OPTIONS...: runs the program with a trace of that kind, and its statistics.
trace() {
    local kind=$1
    shift
    "$croft" run -m nucd "$@" --trace "$kind:$work/$kind" --stats "$work/stats.$kind" "$work/tasks" \
        >"$work/out" 2>"$work/err"
}

# table PROGRAM [OPTION...]: runs an awk program over the table's rows. column(NAME) is a cell of the row. Only the last
# column, the cause, contains commas.
table() {
    local program=$1
    shift
    awk -F, "$@" "function column(name) { return \$at[name] }
        NR == 1 { for (i = 1; i <= NF; i++) at[\$i] = i; next } $program" "$work/nucd"
}

total() { jq -r ".total[\"$1\"]" "$work/stats.nucd"; }
sum() { table "column(\"begun_ns\") != \"\" { sum += column(\"$1\"); rows++ } END { print sum + 0, rows + 0 }"; }

# The number of rows and the sums of their columns are those of the statistics; histograms count each task once.
agrees() {
    local part
    for part in offload wait generator transfer start dependent held cleaning blocked queued elapsed; do
        check "$1: $part" [ "$(sum ${part}_cycles)" = "$(total nucd.${part}_cycles) $(total nucd.offloads)" ]
    done
    for part in offload wait generator transfer start dependent held cleaning blocked queued; do
        check "$1: histogram of $part" jq -e ".total | . as \$all |
            ([to_entries[] | select(.key | test(\"^nucd[.]per_task[.]${part}_cycles[.]([0-9]+|more)\$\")) | .value] | add) ==
            \$all[\"nucd.offloads\"] and
            (\$all[\"nucd.per_task.${part}_cycles.mean\"] * \$all[\"nucd.offloads\"] - \$all[\"nucd.${part}_cycles\"] |
             fabs < 0.001)" "$work/stats.nucd" >"$work/judged"
    done
}

# The host's clock is 0.5 ns: cycles of a row are twice the difference of its times. Steps follow each other.
consistent() {
    table 'function follows(a, b) { if (column(a) == "" || column(a) + 0 > column(b) + 0) bad = bad " " NR ":" a }
        function ns(a, b) { return 2 * (column(b) - column(a)) }
        column("outcome") == "retired" {
            follows("decoded_ns", "ready_ns"); follows("ready_ns", "packet_ns"); follows("ready_ns", "clear_ns")
            follows("clear_ns", "clean_ns"); follows("clean_ns", "free_ns"); follows("packet_ns", "free_ns")
            follows("free_ns", "sent_ns"); follows("sent_ns", "arrived_ns"); follows("arrived_ns", "first_ns")
            follows("first_ns", "begun_ns"); follows("begun_ns", "ended_ns"); follows("ended_ns", "complete_ns")
            follows("complete_ns", "reported_ns"); follows("reported_ns", "left_ns")
            if (ns("decoded_ns", "begun_ns") != column("elapsed_cycles")) bad = bad " " NR ":elapsed"
            if (ns("first_ns", "begun_ns") != column("start_cycles")) bad = bad " " NR ":start"
            if (ns("decoded_ns", "ready_ns") < column("wait_cycles")) bad = bad " " NR ":wait"
            if (column("left_ns") + 0 < left) bad = bad " " NR ":order"
            left = column("left_ns") + 0
        }
        END { if (bad) print bad; exit bad != "" }'
}

# Each task of the chain but the first waits for the one before; the others wait for none. An output of two lines
# covers the line after the next, so that the chain has no other order.
blockers() {
    [ "$(table 'column("outcome") == "retired" { print column("task") ":" column("blocked_by") }' | xargs)" = \
        "0: 1:0 2:1 3:2 4:3 5:4 6: 7: 8: 9: 10:" ]
}

sizes() {
    [ "$(table 'column("outcome") == "retired" { print column("in_bytes") "/" column("out_bytes") }' | uniq -c | xargs)" = \
        "6 64/128 5 64/0" ]
}

for options in "" "--set nucd.mode=ideal" "--set accel.count=1" "--set host.core=inorder" "--env kernel"; do
    # shellcheck disable=SC2086 # several words
    trace nucd $options
    name="nucd${options:+, $options}"
    check "$name: the program" grep -qx "6 10 7" "$work/out"
    agrees "$name"
    check "$name: 11 tasks" [ "$(table 'column("outcome") == "retired"' | wc -l)" -eq 11 ]
    check "$name: times" consistent
    check "$name: sizes" sizes
    check "$name: refusals" [ "$(table 'column("outcome") == "refused"' | grep -c \
        '^,0,,refused,.*,"N is 0: the region is empty, or its operands cannot be encoded"$')" -eq "$(total nucd.malformed.no_length)" ]
    check "$name: places" [ "$(table 'column("place") !~ /^main\+0x.*trace_tasks.c:/' | wc -l)" -eq 0 ]
    # shellcheck disable=SC2086 # several words
    trace perfetto $options
    check "$name: tracing changes nothing" cmp -s <(without_host "$work/stats.nucd") <(without_host "$work/stats.perfetto")
done
trace nucd
check "blockers" blockers

# The span of each task, its steps and the slice on its accelerator have the times of the table, in us.
trace perfetto
spans() {
    jq -r '[.[] | select(.cat == "task" and .ph != "n")] | group_by(.id)[] | reduce .[] as $e ([];
        if $e.ph == "b" then . + [$e | .open = true]
        else (([to_entries[] | select(.value.open) | .key] | last) as $i | .[$i].open = false | .[$i].end = $e.ts) end)
        | (first.name | capture("task (?<n>[0-9]+),").n) as $n | .[] |
        "\($n) \(.name | sub("task.*, main.*"; "span")) \(.ts) \(.end)"' "$work/perfetto"
    jq -r '(map(select(.name == "thread_name") | {key: "\(.tid)", value: .args.name}) | from_entries) as $lines |
        .[] | select(.ph == "X" and ($lines["\(.tid)"] | test("^accel[.][0-9]+$")) and (.name | test("^task")))
        | "\(.name | capture("task (?<n>[0-9]+),").n) \($lines["\(.tid)"]) \(.ts) \(.ts + .dur)"' "$work/perfetto"
}
wanted_spans() {
    table 'function max(a, b) { return a > b ? a : b }
        function step(name, to) {
            if (to > from) print column("task"), name, from / 1000, to / 1000
            from = max(from, to)
        }
        column("outcome") == "retired" {
            from = column("decoded_ns") + 0
            print column("task"), "span", from / 1000, column("left_ns") / 1000
            step("decode", column("ready_ns") + 0); step("packet", column("packet_ns") + 0)
            step("held", column("clear_ns") + 0); step("clean", column("clean_ns") + 0)
            step("blocked" (column("blocked_by") == "" ? "" : " by task " column("blocked_by")), column("free_ns") + 0)
            step("transfer", column("arrived_ns") + 0); step("queue", column("first_ns") + 0)
            step("start", column("begun_ns") + 0); step("run", column("ended_ns") + 0)
            step("commit", column("reported_ns") + 0); step("retire", column("left_ns") + 0)
            print column("task"), "accel." column("accelerator"), column("begun_ns") / 1000, column("complete_ns") / 1000
        }' -v OFMT=%.9g
}
# Rounds the times to ps: jq computes in binary fractions.
rounded() { awk '{ from = $(NF - 1); to = $NF; $NF = $(NF - 1) = ""; printf "%s%.6f %.6f\n", $0, from, to }' | sort; }
check "spans" [ "$(spans | rounded)" = "$(wanted_spans | rounded)" ]
check "spans are there" [ "$(spans | grep -c span)" -eq 11 ]
check "refusals are instants" jq -e '[.[] | select(.ph == "i" and (.name | startswith("refused, main")))] | length == 1' "$work/perfetto" >"$work/judged"

# A run that ends early tells of the tasks in flight.
"$croft" run -m nucd --max-time "2 us" --trace "nucd:$work/nucd" --stats "$work/stats.nucd" "$work/tasks" \
    >"$work/out" 2>"$work/err" || true
agrees "ended early"
check "ended early" [ "$(table 'column("outcome") == "unfinished" && column("left_ns") == ""' | wc -l)" -gt 2 ]

# Tasks of the kernel's driver are known from the accelerators.
trace nucd --env kernel --set nucd.mode=driver
check "driver" [ "$(table 'column("outcome") == "driver" && column("begun_ns") + 0 < column("ended_ns") + 0 &&
    column("ended_ns") + 0 <= column("complete_ns") + 0' | wc -l)" -eq "$(total nucd.driver_tasks)" ]
check "driver: 11 tasks" [ "$(total nucd.driver_tasks)" -eq 11 ]
trace perfetto --env kernel --set nucd.mode=driver
check "driver: slices" jq -e '[.[] | select(.ph == "X" and (.name | startswith("main+0x")))] | length == 11' "$work/perfetto" >"$work/judged"

status=0
"$croft" run -m ddr3 --trace "nucd:$work/nucd" "$work/tasks" >"$work/out" 2>"$work/err" || status=$?
check "no accelerators" [ "$status" -eq 1 ]
check "no accelerators: message" grep -q -- "--trace nucd: machine 'ddr3' has no accelerators that take tasks" "$work/err"

conclude
