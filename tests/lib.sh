# Shared functions of the test scripts: counting, folders, the oracle. Source this file.
# shellcheck shell=bash disable=SC2034,SC2154

passed=0 failed=0

# arguments NAMES COUNT: ends the script unless it has an argument for each name (NAME...: one or more).
arguments() {
    local names
    read -ra names <<<"$1"
    if [ "$2" -eq ${#names[@]} ] || [[ $1 == *... && $2 -gt ${#names[@]} ]]; then return; fi
    echo "usage: $0 $1" >&2
    exit 2
}

# Counts a passed test.
pass() {
    passed=$((passed + 1))
}

# fail NAME [DETAILS]: counts a failed test; prints its name and the first lines of the details.
fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    if [ -n "${2:-}" ]; then head -n 20 <<<"$2" | sed 's/^/    /'; fi
}

# add PASSED FAILED: adds to both counts.
add() {
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# Prints details of a test that judge or check finds failed. Scripts override it.
evidence() {
    :
}

# judge STATUS NAME: counts a test, which has passed if STATUS is 0.
judge() {
    if [ "$1" -eq 0 ]; then pass; else fail "$2" "$(evidence 2>&1)"; fi
}

# check NAME COMMAND...: counts a test, which passes if the command succeeds.
check() {
    local name=$1 result=0
    shift
    "$@" || result=$?
    judge "$result" "$name"
}

# Ends a script: prints the line that tests/run.sh reads, and sets the status.
conclude() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# scratch: creates the folder $work, which is removed when the script ends.
scratch() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
}

# fresh FOLDER: creates the folder empty and prints its absolute path.
fresh() {
    rm -rf "${1:?}"
    mkdir -p "$1"
    realpath "$1"
}

# oracle FILE PROGRAM [ARGUMENTS...]: runs it under qemu-riscv64; output goes to FILE, the exit status to
# $wanted.
oracle() {
    local output=$1
    shift
    wanted=0
    { qemu-riscv64 "$@" >"$output" </dev/null || wanted=$?; } 2>/dev/null
}

# without_host FILE: prints statistics without the part that depends on the host.
without_host() {
    sed '/^  "host": {/,$d' "$1"
}

# The program that run_on runs, with its first arguments; none: run_on's arguments name it.
subject=()

# run_on MACHINE STATUS OPTIONS... -- ARGUMENTS: runs "${subject[@]}" ARGUMENTS by $croft on the machine, and writes stats.json, output
# and errors in $work. Succeeds if the exit status is STATUS.
run_on() {
    local machine=$1 expected=$2 status=0 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    timeout 600 "$croft" run -m "$machine" --stats "$work/stats.json" "${options[@]}" "${subject[@]}" "$@" \
        >"$work/output" 2>"$work/errors" || status=$?
    [ "$status" -eq "$expected" ]
}
