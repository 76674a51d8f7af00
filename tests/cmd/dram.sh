#!/bin/bash
# croft dram: times of traces by hand, both formats, statistics, and messages about bad lines: dram.sh CROFT. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
arguments CROFT $#
croft=$(realpath "$1")
scratch
cd "$work" || exit 1

evidence() {
    cat output messages
}

# runs NAME MEMORY TRACE [OPTIONS...]
runs() {
    local name=$1
    shift
    timeout 60 "$croft" dram "$@" --check >output 2>messages
    check "$name: runs" test $? = 0 -a ! -s messages
}

# refuses NAME STATUS MESSAGE ARGUMENTS...
refuses() {
    local name=$1 status=$2 message=$3
    shift 3
    timeout 20 "$croft" dram "$@" >output 2>messages
    check "$name: status" test $? = "$status"
    check "$name: message" grep -qE -- "$message" messages
}

# Prints the clocks that the last run took.
clocks() {
    awk '/^time/ { print $4 }' output
}

# DDR3-1600K: activate, 11 clocks, read, 11 + 4 clocks, at 1.25 ns; the second read of the row has its data 4 clocks later. The
# first is offered in clock 0, the second in clock 1: 26 clocks, and 30 - 1.
printf '# two reads of a row\nLD 0x0\n\nLD 64\n' >two.trace
runs "two reads" ddr3_1600k two.trace
check "two reads: the sum of their parts" grep -q '^reads       34.375 ns on average, least 32.500, median 32.500, 99 % 36.250, longest 36.250$' output
check "two reads: accesses" grep -q '^accesses    2 of 64 B: 2 reads, 0 writes$' output
check "two reads: time" grep -q '^time        37.500 ns, 30 clocks of 1.25 ns$' output
check "two reads: a row hit" grep -q '^row hits    50.0 % of 2 bursts$' output
cp output expected

check "two reads: the check's result" grep -q '^check       0 of 3 commands break a rule$' output
# Its commands: an activate, a read 11 clocks later, and one 4 clocks after that, for which the bus is free then.
"$croft" dram ddr3_1600k two.trace --trace dram:two.commands >output 2>messages
check "two reads: without a check" test ! -s messages -a "$(grep -c '^check' output)" = 0
printf '%s\n' '# croft dram trace 1: ddr3_1600k, a cycle is 1250000 fs' '# cycle channel command rank group bank row column' \
    '0 0 ACT 0 0 0 0 -' '11 0 RD 0 0 0 0 0' '15 0 RD 0 0 0 0 1' | diff - two.commands >output
judge $? "two reads: its commands"
"$croft" dram hbm1 two.trace --trace perfetto >output 2>messages
check "two reads: a track" jq -e '[.[] | select(.ph == "B" and (.name // "" | startswith("RD ")))] | length == 2' trace.json >output
cp expected output

# The same accesses in the other format, and with other clocks.
printf '0x0 READ 0\n40 READ 1\n' >same.trace
runs "DRAMsim3" ddr3_1600k same.trace
check "DRAMsim3: the same" cmp -s expected output
printf '0x0 READ 100\n0x40 READ 101\n' >later.trace
runs "later" ddr3_1600k later.trace
check "later: the same" cmp -s expected output
runs "standard input" ddr3_1600k - <two.trace
check "standard input: the same" cmp -s expected output
printf 'dram: {standard: ddr3_1600k}\n' >memory.yaml
runs "a file" memory.yaml two.trace
check "a file: the same" cmp -s expected output
printf 'LD 63\nLD 0x7f\n' >unaligned.trace
runs "aligned" ddr3_1600k unaligned.trace
check "aligned: the same" cmp -s expected output
printf 'LD 0x100000000\nLD 0x100000040\n' >beyond.trace
runs "wrapped" ddr3_1600k beyond.trace --wrap
check "wrapped: the same" cmp -s expected output

# 1000 rows of one bank: each activate is tRC (39 clocks) after the one before. 1000 bursts in order: 4 clocks each.
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "LD %d\n", i * 65536 }' >rows.trace
runs "rows" ddr3_1600k rows.trace --set dram.refresh=none
check "rows: tRC each" grep -q "^time .* $((999 * 39 + 26)) clocks of" output
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "LD %d\n", i * 64 }' >stream.trace
runs "stream" ddr3_1600k stream.trace --set dram.refresh=none
check "stream: tBURST each" test "$(clocks)" -ge 4022 -a "$(clocks)" -lt 4060
check "stream: waits for the bus" grep -qE '^waiting     3\.[0-9]+ ns' output
runs "slow stream" ddr3_1600k stream.trace --set dram.refresh=none --interval 8
check "slow stream: does not wait" grep -q '^waiting     0.000 ns' output
check "slow stream: 8 clocks each" test "$(clocks)" = $((999 * 8 + 15))

# Writes and reads of every shipped standard keep its rules; statistics count them.
awk 'BEGIN { x = 1; for (i = 0; i < 4000; i++) { x = (x * 69069 + 5) % 4294967296; printf "%s %d\n", x % 7 < 3 ? "ST" : "LD", int(x / 64) } }' >mixed.trace
for standard in $("$croft" complete dram '' | cut -f 1 | grep -v '^<'); do
    runs "$standard" "$standard" mixed.trace --wrap
    "$croft" dram "$standard" mixed.trace --wrap --stats stats.json >output 2>messages
    case $standard in
    hbm3)
        check "$standard: warns" grep -q '^croft dram: warning: some energy of dram is not counted; set dram.energy_act' messages
        check "$standard: the warning is in the file" jq -e '.run.warning | startswith("some energy of dram")' stats.json >output
        ;;
    *) check "$standard: has energies" jq -e '.total.energy > 0 and (.run.warning | not)' stats.json >output ;;
    esac
    check "$standard: counts" test "$(jq -c '[.run.accesses, .total["dram.read_requests"] + .total["dram.write_requests"]]' stats.json)" = '[4000,4000]'
done
runs "statistics" ddr3_1600k two.trace --stats -
check "statistics alone" jq -e '.total["dram.reads"] == 2 and .total["dram.row_hits"] == 1' output >/dev/null
"$croft" dram ddr3_1600k --show >shown.yaml
runs "what --show prints" shown.yaml two.trace
check "what --show prints: the same" cmp -s expected output

# bad NAME TRACE MESSAGE: the message for a trace, with printf's escapes.
bad() {
    printf '%b' "$2" >bad.trace
    refuses "$1" 1 "bad.trace:$3" ddr3_1600k bad.trace
}
bad "a wrong word" 'LD 0\nXX 1\n' "2: 'XX 1' is not Ramulator 2's 'LD ADDRESS' or 'ST ADDRESS', as the lines before"
bad "too many words" '\n# text\nLD 0 0 0\n' "3: 'LD 0 0 0' is neither Ramulator 2's .* nor DRAMsim3's"
bad "one word" 'LD\n' "1: 'LD' is neither"
bad "no number" 'LD 12x\n' "1: 'LD 12x'"
bad "a negative number" 'LD -1\n' "1: 'LD -1'"
bad "a long number" 'LD 99999999999999999999\n' "1: 'LD 9999"
bad "back in time" '0 READ 5\n0 WRITE 4\n' '2: clock 4 is before that of the line before, 5'
bad "two formats" '0 READ 5\nLD 4\n' "2: 'LD 4' is not DRAMsim3's"
bad "a late clock" '0 READ 18446744073709551615\n' '1: clock 18446744073709551615 is beyond the end'
refuses "beyond the memory" 1 'beyond.trace:1: 64 bytes at 0x100000000 are not all in the memory, which has 4 GiB' ddr3_1600k beyond.trace
refuses "a large access" 1 'two.trace:2: a request of 1048576 bytes has more bursts' ddr3_1600k two.trace --size 1MiB
refuses "no file" 1 'nothing.trace: cannot be opened: No such file' ddr3_1600k nothing.trace
refuses "a folder" 1 ': cannot be read: Is a directory' ddr3_1600k .
refuses "a misspelt standard" 2 "unknown memory 'ddr3_1600'; did you mean 'ddr3_1600k'" ddr3_1600 two.trace
refuses "refreshes that the device has not" 2 'dram.refresh: ddr3_1600k has no refresh of single banks' ddr3_1600k two.trace --set dram.refresh=bank \
    --set dram.tRFCB=60ns
refuses "groups that the device has not" 2 'dram.bank_groups: hmc_2500 has no bank groups' hmc_2500 two.trace --set dram.bank_groups=true
refuses "a misspelt key" 2 "--set: unknown key 'dram.tcl'" ddr3_1600k two.trace --set dram.tcl=1
refuses "no trace" 2 'no TRACE given' ddr3_1600k
refuses "no memory" 2 'no MEMORY given'
refuses "three arguments" 2 "'c' is a second one" a b c
refuses "no size" 2 "--size: '0 B' is not allowed" a b --size "0 B"
refuses "no such trace" 2 "--trace: unknown kind 'dran'; did you mean 'dram'" ddr3_1600k two.trace --trace dran
refuses "a trace of others" 2 "a memory alone has no trace of kind 'konata'; allowed: dram, perfetto" ddr3_1600k two.trace --trace konata
refuses "two traces" 2 "one trace at a time; 'perfetto' is a second one" ddr3_1600k two.trace --trace dram:a --trace perfetto
refuses "a trace's folder" 1 '--trace: cannot write nothing/a: No such file' ddr3_1600k two.trace --trace dram:nothing/a
refuses "no interval" 2 '--interval' a b --interval x
: >empty.trace
runs "an empty trace" ddr3_1600k empty.trace
check "an empty trace: nothing" grep -q '^accesses    0 of' output
conclude
