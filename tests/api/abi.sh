#!/bin/bash
# The binary interface of libundercroft against that of the last version, by abidiff: abi.sh HEADER MAP OLD. A library of empty
# functions made from the header has exactly the interface's types; tests/api/api.sh checks that the real one has the functions.
# UPDATE=1 writes OLD, when a version is released. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
arguments "HEADER MAP OLD" $#
header=$(realpath "$1")
map=$(realpath "$2")
old=$(realpath "$3")
scratch
cd "$work" || exit 1

if ! command -v abidiff abidw >/dev/null; then
    echo "skipped: abidiff and abidw are not here (Debian: abigail-tools), so the interface is not compared with the last version's"
    conclude
    exit
fi

evidence() {
    cat errors report 2>/dev/null
}

# describe HEADER NAME: writes the interface of a header to NAME.abi.
describe() {
    cp "$1" undercroft.h
    {
        echo '#include "undercroft.h"'
        tr '\n' ' ' <undercroft.h | grep -oE '(int|uint32_t) undercroft_[a-z_]*\([^{;]*(\([^;]*)?\);' | sed 's/;$/ { return 0; }/'
    } >stub.c
    gcc -std=c17 -g -shared -fPIC -w stub.c -Wl,-soname,libundercroft.so.1 -Wl,--version-script="$map" -o stub.so 2>errors &&
        abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --short-locs stub.so >"$2.abi" 2>errors
}

# differs NAME SED: a header that the expression changes has an interface that differs.
differs() {
    sed -E "$2" "$header" >changed.h
    check "$1: changes the header" test "$(cmp -s "$header" changed.h && echo same)" != same
    describe changed.h changed
    abidiff --no-added-syms "$old" changed.abi >report 2>&1
    check "$1: is found" test $(($? & 4)) = 4
}

describe "$header" new
check "the interface can be described" test -s new.abi
check "all functions are described" test "$(grep -c "elf-symbol name='undercroft_" new.abi)" = "$(grep -c '^    undercroft_' "$map")"
if [ -n "${UPDATE:-}" ]; then cp new.abi "$old"; fi
abidiff --no-added-syms "$old" new.abi >report 2>&1
check "the interface of the last version is there" test $? = 0
differs "a member of another type" 's/uint32_t source, destination;/uint64_t source, destination;/'
differs "a missing function" '/^int undercroft_tick/d'
differs "another argument" 's/(undercroft_run\(struct undercroft \*model, )uint64_t/\1uint32_t/'
conclude
