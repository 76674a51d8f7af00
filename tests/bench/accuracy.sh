#!/bin/bash
# Accuracy of timed machines: accuracy.sh TEST-ACCURACY TEST-LATENCY TEST-TRAFFIC. The arguments are three
# built unit tests. Prints the tests' measurements beside the bars, with the full random traffic of 10 million
# commands. The status is 1 if a bar is missed.
set -euo pipefail

if [ $# -ne 3 ]; then
    echo "usage: tests/bench/accuracy.sh TEST-ACCURACY TEST-LATENCY TEST-TRAFFIC" >&2
    exit 2
fi
accuracy=$("$1" 2>&1) || true
latency=$("$2" 2>&1) || true
traffic=$(DRAM_COMMANDS=10000000 "$3" 2>&1) || true
status=0

# judge BAR TEST OUTPUT: prints the test's measurements from its output and whether the test passed.
judge() {
    local verdict=misses
    sed -n "/^\[ RUN *\] $2\$/,/^\[ .*\] $2\$/p" <<<"$3" | sed '/^\[/d; s/^/    /'
    if grep -q "^\[ *OK \] $2\$" <<<"$3"; then
        verdict=meets
    else
        status=1
    fi
    printf '%-100s %s\n' "bar: $1" "$verdict"
}

echo "accuracy of machines with a clock"
judge "idle load-to-use latency on each machine equals the sum of its parts, to the picosecond" \
    loads_take_the_sum_of_their_parts "$accuracy"
judge "streaming reads reach 90 % of the peak that refresh leaves" streams_reach_the_peak "$traffic"
judge "reads of GDDR5 are tCCDL apart in a bank group, and tCCDS with bank groups off" bank_groups_cost_tccdl "$latency"
judge "no rule violation in 10 million random commands" random_traffic_breaks_no_rule "$traffic"
exit $status
