# What the test scripts share: counting, folders, the oracle. To be sourced.
# shellcheck shell=bash disable=SC2034

passed=0 failed=0

# One more test has passed.
pass() {
    passed=$((passed + 1))
}

# fail NAME [DETAILS]: one more has failed; shows its name and the first lines of the details.
fail() {
    failed=$((failed + 1))
    printf 'FAILED: %s\n' "$1"
    if [ -n "${2:-}" ]; then head -n 20 <<<"$2" | sed 's/^/    /'; fi
}

# add PASSED FAILED: so many more.
add() {
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# What is shown of a test that judge or check finds failed. Scripts define their own.
evidence() {
    :
}

# judge STATUS NAME: a test that has passed if the status is 0.
judge() {
    if [ "$1" -eq 0 ]; then pass; else fail "$2" "$(evidence 2>&1)"; fi
}

# check NAME COMMAND...: a test that passes if the command succeeds.
check() {
    local name=$1 result=0
    shift
    "$@" || result=$?
    judge "$result" "$name"
}

# The end of a script: the line that tests/run.sh looks for, and the status.
conclude() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# scratch: makes the folder $work, which is removed when the script ends.
scratch() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
}

# fresh FOLDER: makes it anew, and prints its absolute path.
fresh() {
    rm -rf "$1"
    mkdir -p "$1"
    realpath "$1"
}

# oracle FILE PROGRAM [ARGUMENTS...]: under qemu-riscv64; the output goes to the file, the exit status to $wanted.
oracle() {
    local output=$1
    shift
    wanted=0
    { qemu-riscv64 "$@" >"$output" </dev/null || wanted=$?; } 2>/dev/null
}

# without_host FILE: statistics but for what depends on the host.
without_host() {
    sed '/^  "host": {/,$d' "$1"
}
