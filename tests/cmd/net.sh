#!/bin/bash
# Tests croft net through its command line: net.sh CROFT. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../../examples/net")
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages output
}

# runs NAME ARGUMENTS...: the command succeeds without a message.
runs() {
    local name=$1
    shift
    "$croft" net "$@" >output 2>messages
    judge $? "$name"
    check "$name: no message" test ! -s messages
}

# refuses NAME REGEX DESCRIPTION: status 2 and a message that matches, for the lines of a description.
refuses() {
    local name=$1 status=0
    printf '%b' "$3" >bad.yaml
    "$croft" net bad.yaml >output 2>messages || status=$?
    check "$name: status" test "$status" = 2
    check "$name: message" grep -qE "^croft net: $2" messages
    check "$name: one line" test "$(wc -l <messages)" = 1
}

quick=(--set traffic.warmup=200 --set traffic.measure=500)
for example in "$examples"/*.yaml; do
    name=${example##*/}
    runs "$name" "$example" "${quick[@]}" --set traffic.rates=0.05 --set traffic.saturation=false --check
    check "$name: a stable rate" grep -qE '^ +0\.050 +0\.0[0-9]+ .* [0-9.]+ +[0-9]+ ' output
done

runs "files" "$examples/booksim.yaml" "${quick[@]}" --csv table.csv --svg plot.svg --stats stats.json
check "files: saturation" grep -qE '^saturation 0\.[0-9]+, accepted at 1 offered 0\.[34]' output
check "files: table" test "$(wc -l <table.csv)" = 6
check "files: plot" grep -q '</svg>' plot.svg
check "files: statistics" grep -q '"network.router.0.port.0.vc.3.flits"' stats.json
check "files: energy with its source" grep -q 'energy_bit 121 fJ (on_chip: Keckler et al., IEEE Micro 2011' stats.json
mv table.csv one.csv && mv stats.json one.json
runs "again" "$examples/booksim.yaml" "${quick[@]}" --csv table.csv --stats stats.json
check "again: the same table" cmp one.csv table.csv
check "again: the same statistics" cmp one.json stats.json
# Where there is no room, older files stay.
for option in csv svg stats; do
    echo old >full.$option
    (trap '' XFSZ && ulimit -f 0 && exec "$croft" net "$examples/booksim.yaml" "${quick[@]}" --set traffic.rates=0.05 \
        --set traffic.saturation=false --$option full.$option) 2>&1 >/dev/null </dev/null | cat >messages
    check "no room, --$option: message" grep -q "^croft net: --$option: .*'full.$option'.*File too large" messages
    check "no room, --$option: the older file" grep -qx old full.$option
    check "no room, --$option: no other file" test "$(ls full.$option*)" = full.$option
done
for pattern in transpose complement tornado hotspot; do
    runs "$pattern" "$examples/booksim.yaml" "${quick[@]}" --set traffic.pattern=$pattern --set traffic.rates=0.02 \
        --set traffic.saturation=false
done
# Each topology has a default size that it takes.
for topology in mesh torus ring chain full crossbar tree dragonfly; do
    printf 'network: {topology: %s}\ntraffic: {warmup: 50, measure: 100, rates: 0.05, saturation: false}\n' $topology >plain.yaml
    runs "$topology by default" plain.yaml
    runs "$topology, shown" plain.yaml --show
    check "$topology, shown: its size" grep -qE '^ +size: "[0-9x]+" +# default of the topology' output
    mv output shown.yaml
    runs "$topology, from what was shown" shown.yaml
    runs "$topology, auto" plain.yaml --set network.size=auto
done
refuses "a size that is set" "bad.yaml:1: network.size: '8x8' is not a number of routers" 'network: {topology: ring, size: 8x8}\n'
runs "show" "$examples/modules.yaml" --show
check "show: a wire" grep -qE '^ +from: "s2"' output
check "show: a graph has no size" grep -qE '^ +size: "" ' output
"$croft" net --help >output 2>messages
check "help: example" grep -q 'croft net /.*/examples/net/' output
check "help: low rates" grep -q 'no packets' output

# Warm-up and measurement bound a run, however low the rate. The latency of no packet is unknown.
for rate in 1e-12 1e-300; do
    timeout 20 "$croft" net "$examples/booksim.yaml" --set traffic.warmup=50 --set traffic.measure=100 --set traffic.rates="$rate 0.05" \
        --set traffic.saturation=false --csv low.csv --svg low.svg --stats low.json >output 2>messages
    judge $? "rate $rate: ends"
    check "rate $rate: no packets" grep -qE "^ +$rate +0\.000 +0\.000 +no +packets " output
    check "rate $rate: the next one has some" grep -qE '^ +0\.050 +0\.0[0-9]+ .* [0-9.]+ +[0-9]+ ' output
    check "rate $rate: its row" grep -qE "^$rate,0\.000000,0\.000000,1,,,,,,0\.0000,0,0,[0-9]+$" low.csv
    check "rate $rate: one point" test "$(grep -c '<circle' low.svg)" = 1
done
timeout 20 "$croft" net "$examples/booksim.yaml" --set traffic.warmup=0 --set traffic.measure=1 --set traffic.rates=1e-9 --stats low.json >output 2>messages
judge $? "a measurement of one clock ends"
check "its rate" grep -q '"rate": "1e-09"' low.json

# A trace: two packets that share a wire.
printf '# clock source destination flits\n0 0 2 2\n1 1 2 1\n' >two.txt
printf 'network: {topology: chain, size: 3}\ntraffic: {pattern: trace, trace: two.txt}\n' >trace.yaml
runs "trace" trace.yaml
check "trace: mean of 18 and 12 clocks" grep -qE ' 15\.[0-9]+ +15\.' output
printf '0 0 3 1\n' >two.txt
"$croft" net trace.yaml >output 2>messages
check "trace: a wrong node" grep -q 'trace.yaml:2: traffic.trace: ./two.txt:1: not .CLOCK SOURCE\|trace.yaml:2: traffic.trace: two.txt:1: not .CLOCK SOURCE' messages
printf '5 0 1 1\n4 0 1 1\n' >two.txt
"$croft" net trace.yaml >output 2>messages
check "trace: back in time" grep -q 'two.txt:2: clock 4 is before' messages

graph='network:\n  topology: graph\n  a: {kind: router}\n  b: {kind: router}\n  c: {kind: router}\n'
refuses "disconnected" 'bad.yaml:5: network.c: the network is not connected: no wires lead from router a to router c' \
    "$graph  ab: {kind: wire, from: a, to: b}\n"
refuses "port used twice" 'bad.yaml:7: network.ac.from: port 3 of router a has two wires: ab a-b and ac a-c' \
    "$graph  ab: {kind: wire, from: a.3, to: b}\n  ac: {kind: wire, from: a.3, to: c}\n"
refuses "zero width" "bad.yaml:6: network.ab.width: '0 B' is not allowed" \
    "$graph  ab: {kind: wire, from: a, to: b, width: 0 B}\n"
refuses "zero width of all" "bad.yaml:1: network.width: '0 B' is not allowed" 'network: {width: 0 B}\n'
refuses "cyclic dependency" \
    'bad.yaml:1: network.routing: packets can wait for each other in a cycle of 5 wires: r1 -> r0 -> r4 -> r3 -> r2 -> r1' \
    'network: {topology: ring, size: 5, routing: minimal}\n'
refuses "cyclic dependency of a graph" \
    'bad.yaml:9: network.routing: .* in a cycle of 5 wires: [a-e] -> [a-e] -> [a-e] -> [a-e] -> [a-e] -> [a-e]$' \
    "$graph  d: {kind: router}\n  e: {kind: router}\n  ab: {kind: wire, from: a, to: b}\n  routing: minimal\n  bc: {kind: wire, from: b, to: c}\n  cd: {kind: wire, from: c, to: d}\n  de: {kind: wire, from: d, to: e}\n  ea: {kind: wire, from: e, to: a}\n"
refuses "too few channels" 'bad.yaml:1: network.vcs: 1; the routing needs at least 2' \
    'network: {topology: torus, vcs: 1}\n'
refuses "packet larger than a buffer" 'bad.yaml:1: network.buffer: 8 flits; cut_through needs room .* up to 9 flits' \
    'network: {flow: cut_through, buffer: 8}\ntraffic: {flits: 9}\n'
refuses "packet larger than a buffer, stored" 'bad.yaml:2: network.buffer: 4 flits; store_and_forward needs' \
    'network: {flow: store_and_forward}\nnetwork.buffer: 4\ntraffic: {flits: 9}\n'
refuses "unknown router" "bad.yaml:6: network.ab.to: 'bb' is no router of the graph; did you mean 'b'\\?" \
    "$graph  ab: {kind: wire, from: a, to: bb}\n"
refuses "no end" 'bad.yaml:6: network.ab.to: names no router' "$graph  ab: {kind: wire, from: a}\n"
refuses "wire to itself" 'bad.yaml:6: network.ab.to: wire ab joins router a to itself' \
    "$graph  ab: {kind: wire, from: a, to: a}\n"
refuses "parts of a mesh" 'bad.yaml:1: network.a: routers and wires are for topology graph, not mesh' \
    'network: {topology: mesh, a: {kind: router}}\n'
refuses "no routers" 'bad.yaml:1: network.topology: the network has no router' 'network: {topology: graph}\n'
refuses "size" "bad.yaml:1: network.size: '8' is not children of a router x levels" 'network: {topology: tree, size: 8}\n'
refuses "order of a tree" 'bad.yaml:1: network.routing: a tree has no dimensions' \
    'network: {topology: tree, size: 2x3, routing: order}\n'
refuses "rates" "bad.yaml:1: traffic.rates: 'fast' is not a list of rates" 'traffic: {rates: fast}\n'
refuses "transpose" 'bad.yaml:2: traffic.pattern: transpose needs a square number of nodes; there are 8' \
    'network: {size: 4x2}\ntraffic: {pattern: transpose}\n'
refuses "hot node" 'bad.yaml:2: traffic.hot: node 16; the network has nodes 0 to 15' \
    'network: {size: 4x4}\ntraffic: {pattern: hotspot, hot: 16}\n'
refuses "no trace" 'bad.yaml:1: traffic.pattern: trace needs the name of a file, .trace.' 'traffic: {pattern: trace}\n'
refuses "misspelt key" "bad.yaml:1: .*did you mean 'network.latency'" 'network: {latencyy: 1}\n'
conclude
