#!/bin/bash
# Runs one program on croft and on qemu-riscv64: compare.sh CROFT WORKDIR PROGRAM (absolute paths; see
# run.sh). Prints "passed NAME", or "failed NAME: " and the first difference in exit status, output or written
# files.
set -uo pipefail

croft=$1 work=$2 program=$3
name=${program##*/}
source=$(dirname "$0")/${name%%-*}
limit=${LIMIT:-120} # seconds
arguments=() environment=() input=/dev/null
read -ra options <<<"${CROFT_OPTIONS-}"

[ ! -f "$source.args" ] || mapfile -t arguments <"$source.args"
[ ! -f "$source.stdin" ] || input=$source.stdin
if [ -f "$source.env" ]; then
    while IFS= read -r line; do environment+=(-E "$line"); done <"$source.env"
fi

# on SIDE COMMAND...: runs the command in an empty folder; stores stdout, stderr and status beside the folder.
on() {
    local folder=$work/$name.$1
    shift
    rm -rf "$folder"
    mkdir -p "$folder/files"
    (cd "$folder/files" && exec timeout "$limit" "$@" <"$input" >../stdout 2>../stderr)
    echo $? >"$folder/status"
}

fail() {
    echo "failed $name: $*"
    exit 0
}

# Prints the first line that differs as "line N: croft [...], qemu [...]", with printable characters,
# shortened.
first_difference() {
    cmp "$1" "$2" 2>/dev/null | sed -n 's/.* line \([0-9]*\)$/\1/p' | {
        read -r line || line=$(($(wc -l <"$1") < $(wc -l <"$2") ? $(wc -l <"$1") + 1 : $(wc -l <"$2") + 1))
        printf 'line %d: croft [%s], qemu [%s]\n' "$line" "$(sed -n "${line}p" "$1" | cut -c1-100 | tr -c '[:print:]\n' '?')" \
            "$(sed -n "${line}p" "$2" | cut -c1-100 | tr -c '[:print:]\n' '?')"
    }
}

ulimit -c 0
# qemu would pass on the shell's own environment.
exec 2>/dev/null
on croft "$croft" run "${options[@]}" "${environment[@]}" "$program" "${arguments[@]}"
on qemu env -i "$(command -v qemu-riscv64)" "${environment[@]}" "$program" "${arguments[@]}"

ours=$work/$name.croft oracle=$work/$name.qemu
status=$(cat "$oracle/status")
[ "$status" -ne 124 ] || fail "qemu did not end within $limit seconds"
[ "$(cat "$ours/status")" = "$status" ] ||
    fail "exit status $(cat "$ours/status"), qemu's is $status; $(tail -n 1 "$ours/stderr")"
# Some programs have regions, which machines without accelerators warn of.
sed -i '/^croft run: warning: the host ran all regions, /d' "$ours/stderr"
cmp -s "$ours/stdout" "$oracle/stdout" || fail "output, $(first_difference "$ours/stdout" "$oracle/stdout")"
# Each emulator reports a fatal trap in its own words; warnings about a program's launches are croft's, not the program's.
sed -i '/^croft run: warning: /d' "$ours/stderr"
[ "$status" -ge 128 ] || cmp -s "$ours/stderr" "$oracle/stderr" ||
    fail "standard error, $(first_difference "$ours/stderr" "$oracle/stderr")"
files=$(diff -rq "$ours/files" "$oracle/files" | head -n 1)
[ -z "$files" ] || fail "files written: $files"
rm -rf "$ours" "$oracle"
echo "passed $name"
