#!/bin/bash
# Tests croft show --graph through its command line: graph.sh CROFT. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
examples=$(realpath "$(dirname "$0")/../../examples/machines")
trees=$(realpath "$(dirname "$0")/../machine")
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages output
}

# draws NAME MACHINE FILE [OPTIONS...]: the command succeeds without output on standard error.
draws() {
    local name=$1
    shift
    "$croft" show "$1" --graph "$2" "${@:3}" >output 2>messages
    judge $? "$name"
    check "$name: no message" test ! -s messages
}

# says NAME REGEX: the output has a matching line.
says() {
    check "$1" grep -qE "$2" output
}

draws "nucd as text" nucd -
says "nucd: copies" '^\|- accel x 16: '
draws "one part less" nucd - --set accel=none
check "one part less: gone" bash -c '! grep -q accel output'

draws "stacks as text" "$examples/stacks.yaml" -
# Written by hand from the file and what it extends.
cat >expected <<'END'
stacks
|- host: in order, 2 GHz
|  |   memory -> l2.in
|  |- l1i: 32 KiB
|  `- l1d: 32 KiB
|- l2: 1 MiB
|      memory -> crossbar.in
|- crossbar
|      out -> link.*.from
|- stack x 4
|  |- simt: 4 multiprocessors
|  |  |   memory -> crossbar.in
|  |  |- l1: 32 KiB
|  |  |      -> crossbar.in
|  |  |- crossbar
|  |  |      out -> l2.in
|  |  |- l2: 8 slices of 128 KiB
|  |  |      memory -> ../simt.memory
|  |  `- walk_cache: 8 KiB
|  |         -> crossbar.in
|  |- crossbar
|  |      out -> /peer.*.from
|  |      out -> dram.in
|  `- dram: hmc_tom, 16 channels
|- link x 4
|      to -> /stack.*.crossbar.in
`- peer x 12
       to -> /stack.*.crossbar.in
END
check "stacks: the drawing" diff expected output

draws "tree as text" "$trees/tree.yaml" -
says "tree: modules next to the root" '^\|- module\.0-3$'
says "tree: modules at the leaves" '^\|- module\.4-7$'
says "tree: links between them" '^\|      to -> /module\.4-7\.crossbar\.in$'
draws "stacks with another" "$examples/stacks.yaml" - --set stack.2.simt=none
says "stacks with another: the three" '^\|- stack\.0-1,3$'
says "stacks with another: the one" '^\|- stack\.2$'

draws "stacks for Graphviz" "$examples/stacks.yaml" stacks.dot
check "stacks: Graphviz reads it" dot -Tcanon -o canonical.dot stacks.dot
check "stacks: an edge over a link" grep -qE '"link\.0" -> .*stack\.0' stacks.dot
for machine in $("$croft" machines | cut -d ' ' -f 1) "$examples/stacks.yaml"; do
    draws "$machine as SVG" "$machine" picture.svg
    check "$machine: a picture" grep -q '</svg>' picture.svg
    check "$machine: the host is in it" grep -q '>host' picture.svg
    rm -f picture.svg
done
draws "PNG" nucd picture.png
check "PNG: a picture" test "$(head -c 4 picture.png | tail -c 3)" = PNG

"$croft" show nucd --graph picture.gif >output 2>messages
check "another format" test $? = 2
check "another format: message" grep -q "name a FILE.svg, FILE.png or FILE.dot" messages
# The graph is longer than what a pipe holds, and nothing reads it.
{
    echo "host: {core: inorder}"
    for part in $(seq 1500); do echo "part$part: {kind: group, crossbar: {out: /dram}}"; done
} >large.yaml
PATH=/nowhere "$croft" show ./large.yaml --graph none.svg >output 2>messages
check "no Graphviz" test $? != 0
check "no Graphviz: message" grep -q "is the package graphviz installed" messages
check "no Graphviz: no file" test ! -e none.svg

conclude
