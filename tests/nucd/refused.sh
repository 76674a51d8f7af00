#!/bin/bash
# Regions that <croft/nucd.h> must refuse with a message: refused.sh CROFT. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
scratch

# try MESSAGE PARAMETERS [TYPE]: compiles a region with the parameters, and with a result if TYPE is given.
# MESSAGE "" means that it must compile.
try() {
    local message=$1 head="CROFT_REGION(f, " body="{ }" status=0
    if [ -n "${3:-}" ]; then
        head="CROFT_REGION_RETURNS($3, f, " body="{ $3 result = {0}; return result; }"
    fi
    printf '#include <croft/nucd.h>\nstruct big { long a, b; };\n%s%s) %s\n' "$head" "$2" "$body" >"$work/f.c"
    "$croft" cc -O2 -c "$work/f.c" -o "$work/f.o" 2>"$work/messages" || status=$?
    if { [ -z "$message" ] && [ "$status" -eq 0 ]; } ||
        { [ -n "$message" ] && [ "$status" -ne 0 ] && grep -qF "$message" "$work/messages"; }; then
        pass
    else
        fail "$head$2): status $status, expected: ${message:-that it compiles}" "$(cat "$work/messages")"
    fi
}

v() { printf 'CROFT_VALUE(int, v%s)' "$1"; }
out() { printf 'CROFT_OUT(int *, o%s, 4)' "$1"; }
in_and_out() { printf 'CROFT_INOUT(int *, b%s, 4)' "$1"; }

inputs="f: a region has at most four inputs"
outputs="f: a region has at most four outputs"
try "" "$(v 1), $(v 2), $(v 3), $(v 4)"
try "$inputs" "$(v 1), $(v 2), $(v 3), $(v 4), $(v 5)"
try "$inputs" "$(v 1), $(v 2), $(v 3), $(in_and_out 1), $(in_and_out 2)"
try "" "$(v 1), $(v 2), $(v 3), $(v 4), $(out 1), $(out 2), $(out 3), $(out 4)"
try "$outputs" "$(out 1), $(out 2), $(out 3), $(out 4), $(in_and_out 5)"
try "" "$(out 1), $(out 2), $(out 3)" int
try "$outputs" "$(out 1), $(out 2), $(out 3), $(out 4)" int
try "" "$(v 1)" double
try "f: the result must fit in a register" "$(v 1)" "struct big"
try "f: a parameter must fit in a register" "CROFT_VALUE(struct big, v)"
try "f: a parameter must fit in a register" "CROFT_VALUE(long double, v)"

conclude
