# The server itself: connections, options, and input that is not from gdb. gdb.sh sources this file.
# shellcheck shell=bash disable=SC2034,SC2153,SC2154 # variables are shared between the parts

# A client other than gdb sends garbage, a wrong checksum, malformed and unknown packets. After it
# disconnects, the program runs on.
test_rubbish() {
    # shellcheck disable=SC2016 # the dollars are the protocol's
    local wanted='-+$E16#ac+$#00+$E0e#da' answer
    start_port "$OUT/program"
    exec 4<>"/dev/tcp/127.0.0.1/$port"
    # shellcheck disable=SC2016
    printf 'GET / HTTP/1.1\r\n\r\n$g#00$mzz,4#c1$xyz#6b$m0,ffffffffffffffff#29' >&4
    answer=$(timeout 600 head -c ${#wanted} <&4 || true)
    exec 4>&-
    same "rubbish" "$wanted" "$answer"
    finish "rubbish" 3
    same "rubbish: output" "corner 120 0.25 3 6" "$(cat "$OUT/stdout")"
}

# An instruction limit and a log work under gdb too.
test_options() {
    start --max-insns 100000 "$OUT/program" loop
    debug "$OUT/program" <<'EOF'
continue
EOF
    expect "limit" <<'EOF'
*exited with code 0174]
EOF
    finish "limit" 124
    # The program queries its standard output, which must be the same in both runs.
    stdout=/dev/null
    start --log "commit:$OUT/log" "$OUT/program"
    stdout=$OUT/stdout
    debug "$OUT/program" <<'EOF'
break half
continue
backtrace
stepi
delete
continue
EOF
    expect "log" <<'EOF'
Breakpoint 1, half *
#1 * in main *
*exited with code 03]
EOF
    finish "log" 3
    "$CROFT" run --log "commit:$OUT/log.alone" "$OUT/program" >/dev/null || true
    same "log: as without gdb" "$(sha256sum <"$OUT/log.alone")" "$(sha256sum <"$OUT/log")"
}

# usage STATUS TEXT WHERE: --gdb WHERE must be refused with that message.
usage() {
    local status=0
    timeout 600 "$CROFT" run --gdb "$3" "$OUT/program" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null || status=$?
    same "--gdb $3: exit status" "$1" "$status"
    if grep -qF -- "$2" "$OUT/stderr"; then pass; else fail "--gdb $3" "$(cat "$OUT/stderr")"; fi
}

test_usage() {
    usage 1 "port 65536 does not exist" 65536
    usage 1 "is neither a port (0 to 65535) nor the path of a socket" ""
    usage 1 "is neither a port (0 to 65535) nor the path of a socket" "$sockets/$(printf '%0120d' 0)"
    usage 1 "cannot create the socket" "$sockets/none/gdb"
    echo precious >"$sockets/file"
    usage 1 "cannot create the socket" "$sockets/file"
    same "--gdb leaves files alone" precious "$(cat "$sockets/file")"
}

# A TCP port; and a socket left behind by a killed croft, which is replaced.
test_connections() {
    local child
    start_port "$OUT/program"
    timeout 600 gdb-multiarch -nx -q -batch -ex "target remote 127.0.0.1:$port" -ex 'break half' -ex continue -ex 'print value' \
        "$OUT/program" >"$OUT/gdb" 2>&1 </dev/null || true
    expect "TCP" <<'EOF'
Breakpoint 1, half (value=1) at *
$1 = 1
EOF
    finish "TCP" 3
    start "$OUT/program"
    read -r child <"/proc/$croft/task/$croft/children" || true # there is no newline
    kill -KILL "$child"
    wait "$croft" 2>/dev/null || true
    same "abandoned socket: is there" socket "$(stat -c %F "$socket")"
    : >"$OUT/stderr"
    timeout 600 "$CROFT" run --gdb "$socket" "$OUT/program" >"$OUT/stdout" 2>"$OUT/stderr" </dev/null &
    croft=$!
    until grep -q 'waits for gdb' "$OUT/stderr"; do sleep 0.01; done
    same "socket: only for this user" "600" "$(stat -c %a "$socket")"
    debug "$OUT/program" <<'EOF'
break half
continue
EOF
    expect "abandoned socket" <<'EOF'
Breakpoint 1, half (value=1) at *
EOF
    finish "abandoned socket" 3
    if [ -e "$socket" ]; then fail "the socket is removed"; else pass; fi
}
