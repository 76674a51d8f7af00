#!/bin/bash
# Regions that <croft/nucd.h> must refuse with a message: refused.sh CROFT. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
scratch

# The messages have one error, with this text.
one_error() {
    [ "$(grep -c 'error:' "$work/messages")" -eq 1 ] && grep 'error:' "$work/messages" | grep -qF "$1"
}

# try MESSAGE PARAMETERS [TYPE [STATEMENTS [CODE]]]: compiles a region with the parameters and statements, and with a
# result if TYPE is given, and then the code. MESSAGE "" means that it must compile without messages. Otherwise MESSAGE
# must be the only error.
try() {
    local message=$1 head="CROFT_REGION(f${2:+, }" body="{ ${4:-} }" status=0
    if [ -n "${3:-}" ]; then
        head="CROFT_REGION_RETURNS($3, f${2:+, }" body="{ ${4:-} $3 result = {0}; return result; }"
    fi
    printf '#include <croft/nucd.h>\nstruct big { long a, b; };\n%s%s) %s\n' "$head" "$2" "$body" >"$work/f.c"
    printf '%s\n' "${5:-}" >>"$work/f.c"
    "$croft" cc -O2 -c "$work/f.c" -o "$work/f.o" 2>"$work/messages" || status=$?
    if { [ -z "$message" ] && [ "$status" -eq 0 ] && ! [ -s "$work/messages" ]; } ||
        { [ -n "$message" ] && [ "$status" -ne 0 ] && one_error "$message"; }; then
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
# Whatever uses the region or its parameters causes no further error, also if the program has macros of common names.
parameters="f: a region has one to eight parameters (CROFT_VALUE, CROFT_IN, CROFT_OUT, CROFT_INOUT)"
nine="$(v 1), $(v 2), $(v 3), $(v 4), $(v 5), $(v 6), $(v 7), $(v 8), $(v 9)"
ten="$(out 1), $(out 2), $(v 1), $(v 2), $(v 3), $(v 4), $(v 5), $(v 6), $(v 7), $(v 8)"
try "$parameters" "" "" "" "int main(void) { f(); f_body(); return 0; }"
try "$parameters" "" int "" "int main(void) { return f() + f_body(); }"
try "$parameters" "$nine" "" "(void)(v1 + v9);" "int main(void) { f(1, 2, 3, 4, 5, 6, 7, 8, 9); return 0; }"
try "$parameters" "$nine" long "(void)(v1 + v9);" "int main(void) { return (int)f(1, 2, 3, 4, 5, 6, 7, 8, 9); }"
try "$parameters" "$ten" "" "*o1 = v8;" "int main(void) { int o[2]; f(o, o + 1, 1, 2, 3, 4, 5, 6, 7, 8); return 0; }"
try "$parameters" "$ten, $(out 3), $(out 4), $(out 5), $(out 6), $(out 7), $(out 8)" "" "*o8 = v8;"
try "" "$(v 1)" "" "" "#define NONE 1
CROFT_REGION_ON(3, g, $(v 2)) { }"

try "f: the result must fit in a register" "$(v 1)" "struct big"
try "f: a parameter must fit in a register" "CROFT_VALUE(struct big, v)"
try "f: a parameter must fit in a register" "CROFT_VALUE(long double, v)"

conclude
