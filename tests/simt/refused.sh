#!/bin/bash
# Launches that <croft/simt.h> must refuse at compile time with a message, at all optimisation levels:
# refused.sh CROFT. Prints "N passed, N failed".
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$1
scratch

# try MESSAGE CALL: compiles a function with the call. MESSAGE "" means that it must compile without warnings.
try() {
    local message=$1 level status
    cat >"$work/f.c" <<END
#include <croft/simt.h>
struct a { int i; } a;
const struct a fixed;
struct b { int i; } b;
int value;
void k(struct a *argument);
void reads(const struct a *argument);
long f(void);
long f(void) { return $2; }
END
    for level in -O0 -O1 -O2 -O3 -Os; do
        status=0
        "$croft" cc -std=c17 "$level" -Wall -Wextra -Werror -c "$work/f.c" -o "$work/f.o" 2>"$work/messages" || status=$?
        if { [ -z "$message" ] && [ "$status" -eq 0 ]; } ||
            { [ -n "$message" ] && [ "$status" -ne 0 ] && grep -qF "$message" "$work/messages"; }; then
            pass
        else
            fail "$2, $level: status $status, expected: ${message:-that it compiles}" "$(cat "$work/messages")"
        fi
    done
}

try "" "simt_launch(k, &a, simt_dim(1), simt_dim(1))"
try "" "simt_launch(reads, &fixed, simt_dim(1, 2, 3), simt_dim(4, 5), .scratchpad = 64, .registers = 20, .queue = 3)"
try "passing argument 1 of 'k' from incompatible pointer type" "simt_launch(k, &b, simt_dim(1), simt_dim(1))"
try "discards 'const' qualifier" "simt_launch(k, &fixed, simt_dim(1), simt_dim(1))"
try "makes pointer from integer" "simt_launch(k, value, simt_dim(1), simt_dim(1))"
try "is not a function" "simt_launch(value, &a, simt_dim(1), simt_dim(1))"
try "has no member named 'scratch'" "simt_launch(k, &a, simt_dim(1), simt_dim(1), .scratch = 1)"
try "atomics have four or eight bytes" "simt_atomic_min((char *)0, 1)"

conclude
