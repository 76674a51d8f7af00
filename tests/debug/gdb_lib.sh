# Shared functions of gdb.sh's parts: starting croft and gdb, and comparing. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # variables are shared between the parts

# same NAME WANTED GOT
same() {
    if [ "$2" = "$3" ]; then pass; else fail "$1" "wanted: $2"$'\n'"got:    $3"; fi
}

# Limits of wall-clock time are for hangs only: ten minutes.

# start CROFT_OPTIONS... PROGRAM [ARGS...]: starts croft run in the background, waiting for gdb at $socket.
# Its output goes to the file $stdout.
stdout=$OUT/stdout
start() {
    rm -f "$socket"
    timeout 600 "$CROFT" run --gdb "$socket" "$@" >"$stdout" 2>"$OUT/stderr" </dev/null &
    croft=$!
    while kill -0 "$croft" 2>/dev/null; do
        if [ -S "$socket" ]; then return; fi
        sleep 0.01
    done
    fail "croft run $*: does not listen" "$(cat "$OUT/stderr")"
}

# finish NAME STATUS: croft must end with that exit status.
finish() {
    local status=0
    wait "$croft" || status=$?
    same "$1: exit status" "$2" "$status"
}

# debug PROGRAM: runs gdb with the commands on standard input, even if some fail; its output goes to $OUT/gdb.
debug() {
    local command
    local -a commands=()
    while IFS= read -r command; do commands+=(-ex "$command"); done
    timeout 600 gdb-multiarch -nx -q -batch -ex 'set pagination off' -ex 'set confirm off' -ex 'set width 0' \
        -ex "target remote $socket" "${commands[@]}" "$1" >"$OUT/gdb" 2>&1 </dev/null || true
}

# expect NAME: lines of gdb's output must match the bash patterns on standard input, in order.
expect() {
    local name=$1 pattern line found
    exec 3<"$OUT/gdb"
    while IFS= read -r pattern; do
        found=0
        while IFS= read -r line <&3; do
            # shellcheck disable=SC2053 # a pattern is wanted
            if [[ $line == $pattern ]]; then
                found=1
                break
            fi
        done
        if [ "$found" = 0 ]; then
            exec 3<&-
            fail "$name: no line (any more) like '$pattern'" "$(cat "$OUT/gdb")"
            return
        fi
    done
    exec 3<&-
    pass
}

# Prints the number of the line in SOURCE that contains TEXT.
line_of() {
    grep -n -m 1 -F "$2" "$here/$1" | cut -d: -f1
}

# start_port CROFT_OPTIONS... PROGRAM: like start, on a free TCP port chosen by croft; sets $port.
start_port() {
    : >"$OUT/stderr"
    timeout 600 "$CROFT" run --gdb 0 "$@" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null &
    croft=$!
    until grep -q 'waits for gdb' "$OUT/stderr"; do sleep 0.01; done
    port=$(sed -n 's/.*target remote 127.0.0.1://p' "$OUT/stderr")
}
