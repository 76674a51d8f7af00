#!/bin/bash
# Compares croft with qemu-riscv64 on whole programs: run.sh CROFT WORKDIR PROGRAM... Prints a line for each
# program that differs, then "N passed, N failed"; the status is 1 if any failed.
#
# A program file is named SOURCE-OPTIONS. Beside tests/programs/SOURCE.c there may be
#   SOURCE.args   arguments, one per line
#   SOURCE.env    environment, one NAME=VALUE per line (default: empty)
#   SOURCE.stdin  standard input (default: empty)
# CROFT_OPTIONS holds further options of `croft run`; JOBS is the number of programs run at a time (default
# 2), LIMIT the time limit of each in seconds (default 120).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

arguments "CROFT WORKDIR PROGRAM..." $#
here=$(cd "$(dirname "$0")" && pwd)
croft=$(realpath "$1")
mkdir -p "$2"
work=$(cd "$2" && pwd)
shift 2

if ! command -v qemu-riscv64 >/dev/null; then
    echo "programs: qemu-riscv64 is missing: install Debian's package qemu-user" >&2
    exit 1
fi

results=$work/results
: >"$results"
export CROFT_OPTIONS=${CROFT_OPTIONS-}
realpath "$@" | xargs -d '\n' -P "${JOBS:-2}" -n 1 "$here/compare.sh" "$croft" "$work" >>"$results" || true

passed=$(grep -c '^passed ' "$results" || true)
failed=$(($# - passed))
sort "$results" | sed -n 's/^failed //p'
conclude
