#!/bin/bash
# Networks in machines: network.sh CROFT WORKDIR. Programs behave the same with a mesh instead of a crossbar and with
# switches instead of links, requests and responses balance, and statistics repeat; descriptions with errors get messages.
# Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../../examples")
work=$(fresh "$2")
cd "$work" || exit 1

evidence() {
    tail -n 5 messages output
}

# total FILE NAME: a statistic of the whole run.
total() {
    awk -v name="\"$2\":" '/"total"/ { total = 1 } total && $1 == name { gsub(/[^0-9]/, "", $2); print $2; exit }' "$1"
}

# same NAME MACHINE OTHER NETWORK PROGRAM: the program prints the same on both machines, but for the times.
same() {
    "$croft" run -m "$2" "$5" 2>messages | sed 's/[0-9]* cycles.*//' >expected
    "$croft" run -m "$3" --check dram --stats one.json "$5" 2>messages | sed 's/[0-9]* cycles.*//' >output
    check "$1: output" cmp expected output
    "$croft" run -m "$3" --check dram --stats two.json "$5" 2>messages | cat >again
    check "$1: it repeats" cmp <(sed '/^  "host"/,$d' one.json) <(sed '/^  "host"/,$d' two.json)
    check "$1: packets" test "$(total one.json "$4.packets_sent")" -gt 1000
    check "$1: all arrive" test "$(total one.json "$4.packets_sent")" = "$(total one.json "$4.packets_delivered")"
    check "$1: flits" test "$(total one.json "$4.flits_entered")" = "$(total one.json "$4.flits_left")"
}

"$croft" cc -O2 "$examples/cells.c" -o cells 2>messages
"$croft" cc -O2 "$examples/simt/vector_add.c" -o vector_add 2>>messages
same "mesh" nucd "$examples/machines/mesh.yaml" mesh cells
same "switches" "$examples/machines/stacks.yaml" "$examples/machines/network.yaml" net vector_add

# Packets at the routers' outputs: as many slices as packets visit routers, and those of a line follow one another.
"$croft" run -m "$examples/machines/network.yaml" --trace perfetto:trace.json --stats one.json vector_add >output 2>messages
slices() {
    jq -r --slurpfile all trace.json -n '$all[0] | (if type == "array" then . else .traceEvents end) as $events
        | ($events | map(select(.ph == "M" and .name == "process_name" and .args.name == "net") | .pid) | first) as $net
        | $events[] | select(.ph == "X" and .pid == $net) | "\(.tid) \(.ts) \(.dur) \(.args.bytes)"' >slices
    sort -k1,1n -k2,2g slices | awk -v flits="$(total one.json net.hops)" '{ sum += $4 / 32; bad += $1 == line && $2 < end - 1e-6
        line = $1; end = $2 + $3 } END { exit !(NR > 1000 && bad == 0 && sum == flits) }'
}
check "slices of a trace" slices

# refuses NAME REGEX EXTENSION...: a message that matches, for lines behind `extends: mesh.yaml`.
cp "$examples/machines/mesh.yaml" .
refuses() {
    printf 'extends: mesh.yaml\n%b' "$3" >bad.yaml
    "$croft" show bad.yaml >output 2>messages
    check "$1: status" test $? = 2
    check "$1: message" grep -qE "^croft show: $2" messages
}

# Energies of wires follow from what they are; keys of energies win; the saved description has the same ones; and a run says
# if an energy is missing, or idle wires take most of all. joules MACHINE ACCOUNT OPTIONS...: an account of the network mesh, in fJ.
joules() {
    "$croft" run -m "$1" --stats one.json "${@:3}" cells >output 2>messages
    total one.json "mesh.$2.energy"
}
moved=$(joules "$examples/machines/mesh.yaml" wires)
bits=$((moved / 121))
check "on-chip wires: 121 fJ a bit" test "$moved" -gt 0 -a $((moved % (121 * 256))) = 0
check "on-chip wires: no doubt" test ! -s messages
check "on-chip wires that are idle" test "$(joules "$examples/machines/mesh.yaml" idle_wires)" = 0
check "a key wins" test "$(joules "$examples/machines/mesh.yaml" wires --set mesh.energy_bit=1pJ)" = $((bits * 1000))
check "off-chip wires" test "$(joules "$examples/machines/mesh.yaml" io --set mesh.wires=package)" = $((bits * 2000))
check "idle off-chip wires: warned of" grep -qE \
    '^croft run: warning: idle parts take [6-9][0-9] % of the energy, mesh alone [6-9][0-9] %; its keys for that are wires, energy_idle$' messages
check "wires on an interposer" test "$(joules "$examples/machines/mesh.yaml" interposer --set mesh.wires=interposer)" = $((bits * 560))
check "unknown wires" test "$(joules "$examples/machines/mesh.yaml" wires --set mesh.wires=unknown)" = 0
check "unknown wires: warned of" grep -qx \
    'croft run: warning: some energy of mesh is not counted; set mesh.wires (on_chip, interposer or package)' messages
check "unknown wires: told once" test "$(grep -c 'not counted' messages)" = 1
check "unknown wires with a key" test "$(joules "$examples/machines/mesh.yaml" wires --set mesh.wires=unknown \
    --set mesh.energy_bit=1pJ)" = $((bits * 1000))
check "unknown wires with a key: no doubt" test ! -s messages
cat >trio.yaml <<'X'
extends: nucd
crossbar: none
l2: {memory: mesh}
accel: {memory: mesh}
mesh:
  kind: network
  topology: graph
  classes: 2
  wires: package
  out: dram
  a: {kind: router, nodes: 9}
  b: {kind: router, nodes: 8}
  c: {kind: router, nodes: 8}
  ab: {kind: wire, from: a, to: b, wires: on_chip, energy_bit: 300 fJ}
  bc: {kind: wire, from: b, to: c}
X
io=$(joules trio.yaml io)
moved=$(total one.json mesh.wires.energy)
check "a wire of its own kind" test "$io" -gt 0 -a "$moved" -gt 0 -a $((moved % (300 * 256))) = 0
check "the saved description: off-chip wires" test "$(joules one.json.machine.yaml io)" = "$io"
check "the saved description: on-chip wires" test "$(total one.json mesh.wires.energy)" = "$moved"

refuses "a chip's wires that leave it" 'bad.yaml:2: mesh.off_chip: true, but wires: on_chip do not leave the chip' \
    'mesh: {off_chip: true}\n'
refuses "one class" 'bad.yaml:2: mesh.classes: 1; requests and responses of a machine need 2' 'mesh: {classes: 1}\n'
refuses "too few nodes" 'mesh.yaml:[0-9]+: mesh.out_nodes: 8 parts are connected, to nodes from 17 on; the network has 24 nodes' \
    'mesh: {size: 6x4}\n'
refuses "list of nodes" 'bad.yaml:2: mesh.in_nodes: a list of fewer than 17 nodes' 'mesh: {in_nodes: 0 1}\n'
refuses "a wrong node" 'bad.yaml:2: mesh.out_nodes: not a list of nodes from 0 to 24' 'mesh: {out_nodes: 0 25}\n'
refuses "a line larger than a buffer" 'bad.yaml:2: mesh.buffer: 2 flits; cut_through needs .* up to 3 flits' \
    'mesh: {flow: cut_through, buffer: 2}\n'
refuses "a cycle" 'bad.yaml:2: mesh.routing: packets can wait for each other in a cycle of 25 wires' \
    'mesh: {topology: ring, size: 25, routing: minimal}\n'
refuses "disconnected" 'bad.yaml:2: mesh.b: the network is not connected' \
    'mesh: {topology: graph, a: {kind: router, nodes: 40}, b: {kind: router}}\n'
refuses "another part within" 'bad.yaml:2: mesh.x: a dram cannot stand within a network' \
    'mesh: {x: {kind: dram}}\n'
conclude
