#!/usr/bin/env bash
# Debian's own programs for riscv64, in the versions of debian.txt, against qemu-riscv64: output, status and the files that they
# leave. Skipped if no mirror of Debian can be reached or has these versions no more.
# Variables: CROFT (the command), OUT (a folder for products), DEBIAN (a folder that keeps the packages).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../../lib.sh"

cd "$(dirname "$0")/../../.."
list=$PWD/tests/env/linux/debian.txt
cases=$PWD/tests/env/linux/debian
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=$(fresh "${OUT:-build/tests/debian}")
mkdir -p "${DEBIAN:=build/debian}"
DEBIAN=$(realpath "$DEBIAN")
sysroot=$DEBIAN/sysroot
bin=$sysroot/usr/bin

evidence() {
    diff "$OUT/wanted" "$OUT/output" | head -n 8
    diff -r "$OUT/qemu" "$OUT/croft" | head -n 4
    head -n 8 "$OUT/errors"
}

skip() {
    echo "skipped: Debian's programs: $1"
    conclude
    exit
}

# Runs apt-get with lists and packages of its own, of the mirror that this machine uses.
apt() {
    APT_CONFIG=$DEBIAN/apt.conf timeout 600 apt-get -qq "$@" >"$OUT/apt" 2>&1
}

mirror() {
    { cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
        grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1
}

fetch() {
    local from names
    command -v apt-get >/dev/null || skip "apt-get is not installed"
    from=$(mirror)
    [ -n "$from" ] || skip "no mirror is configured"
    mkdir -p "$DEBIAN"/{lists/partial,packages/partial}
    : >"$DEBIAN/status"
    echo "deb [arch=riscv64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $from trixie main" >"$DEBIAN/sources.list"
    cat >"$DEBIAN/apt.conf" <<END
Dir::Etc::sourcelist "$DEBIAN/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$DEBIAN/lists";
Dir::State::status "$DEBIAN/status";
Dir::Cache::archives "$DEBIAN/packages";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Architecture "riscv64";
APT::Architectures { "riscv64"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "2";
Acquire::http::Timeout "20";
END
    apt update -o APT::Update::Error-Mode=any || skip "the mirror cannot be reached: $(tail -n 1 "$OUT/apt")"
    mapfile -t names < <(sed -nE 's/^([a-z][^ ]*) (.*)/\1=\2/p' "$list")
    (cd "$DEBIAN/packages" && apt download "${names[@]}") || skip "the mirror does not have a version of debian.txt: $(tail -n 1 "$OUT/apt")"
}

# Unpacks the packages unless that has been done.
provide() {
    local package
    if ! cmp -s "$list" "$DEBIAN/unpacked"; then
        rm -rf "$DEBIAN/packages" "$sysroot"
        fetch
        mkdir -p "$sysroot/usr/lib" "$sysroot/usr/bin"
        ln -s usr/lib "$sysroot/lib" # as base-files has it
        ln -s usr/bin "$sysroot/bin"
        for package in "$DEBIAN/packages"/*.deb; do
            dpkg-deb -x "$package" "$sysroot"
        done
        cp "$list" "$DEBIAN/unpacked"
    fi
}

# Makes a folder with the files that programs use.
prepare() {
    local folder
    folder=$(fresh "$1")
    seq -f 'line %g of the file' 300 >"$folder/lines"
    seq 1 7 2000 | awk '{ print $1 * 7919 % 1000, $1 }' >"$folder/numbers"
    mkdir "$folder/folder"
    cp "$cases"/* "$folder/folder"
    touch -d @100000000 "$folder"/folder/* "$folder/folder" "$folder/lines" "$folder/numbers"
}

# same NAME OPTIONS -- PROGRAM ARGUMENTS: croft, with these options, and qemu-riscv64 do the same; standard input is `lines`.
same() {
    local name=$1 options=() wanted=0 status=0
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    prepare "$OUT/qemu"
    prepare "$OUT/croft"
    (cd "$OUT/qemu" && env -i LC_ALL=C timeout 600 qemu-riscv64 -L "$sysroot" "$bin/$1" "${@:2}") \
        <"$OUT/qemu/lines" >"$OUT/wanted" 2>"$OUT/qemu.errors" || wanted=$?
    (cd "$OUT/croft" && timeout 600 "$CROFT" run --sysroot "$sysroot" --setenv LC_ALL=C "${options[@]}" "$bin/$1" "${@:2}") \
        <"$OUT/croft/lines" >"$OUT/output" 2>"$OUT/errors" || status=$?
    check "$name: status $status, not $wanted" [ "$status" = "$wanted" ]
    check "$name: output" cmp -s "$OUT/wanted" "$OUT/output"
    check "$name: files" diff -r "$OUT/qemu" "$OUT/croft"
    check "$name: no call is missing" [ -z "$(grep 'is missing: it returns' "$OUT/errors")" ]
}

# Each line of folder/commands is a command; words are separated as the shell does.
test_commands() {
    local line words
    while read -r line; do
        case $line in '' | '#'*) continue ;; esac
        eval "words=($line)"
        same "$line" -- "${words[@]}"
    done <"$cases/commands"
}

test_scripts() {
    same "bash script" -- bash folder/script.sh
    same "busybox sh script" -- busybox sh folder/script.sh
    same "perl script" -- perl folder/script.pl
    same "python script" -- python3.13 folder/script.py
    same "python with threads" -- python3.13 folder/threads.py
    same "python with sockets" --net -- python3.13 -W ignore folder/sockets.py
    same "python with sockets, in time" --net -m ddr3 -- python3.13 -W ignore folder/sockets.py
    same "python with threads on three harts" -m virt --set harts=3 -- python3.13 folder/threads.py
    same "sqlite script" -- sqlite3 -init folder/script.sql database .quit
    same "sqlite script in time" -m ddr3 -- sqlite3 -init folder/script.sql database .quit
    same "lua script" -- lua5.4 folder/script.lua
    same "luajit in time" -m ddr3 -- luajit -e 'local s = 0; for i = 1, 1e5 do s = s + i % 7 end; print(s)'
    same "tcl script" -- tclsh8.6 folder/script.tcl
    same "tcl script beneath the kernel" --env kernel -m ddr3 -- tclsh8.6 folder/script.tcl
    same "awk script" -- gawk -f folder/script.awk numbers
    same "bc" -- bc -l folder/script.bc
    same "jq beneath the kernel" --env kernel -- jq -n '[range(10)] | map(. * .) | add'
    same "tar in time" -m ddr3 -- tar -cvf /dev/null --sort=name folder lines
    same "C++ in time, out of order" -m nucd -- gperf lines
}

# Builds the tests' programs with the C library musl, linked `static` or `dynamic`. Its debug information has relocations that the
# linker of Debian 12 does not know.
build_musl() {
    local name=$1 link=$2 from=$sysroot/usr/lib/riscv64-linux-musl musl=$OUT/musl gcc start ends
    gcc=$(dirname "$(riscv64-linux-gnu-gcc -print-libgcc-file-name)")
    if [ ! -d "$musl" ]; then
        mkdir -p "$musl"
        for start in Scrt1.o crt1.o crti.o crtn.o libc.a libc.so; do
            riscv64-linux-gnu-objcopy -g "$from/$start" "$musl/$start"
        done
    fi
    if [ "$link" = static ]; then
        start=crt1.o ends=(-static -no-pie "$musl/libc.a" "$gcc/libgcc.a" "$gcc/libgcc_eh.a" "$musl/libc.a")
    else
        start=Scrt1.o ends=(-pie "-Wl,--dynamic-linker=/lib/ld-musl-riscv64.so.1" -L "$musl" -l:libc.so "$gcc/libgcc.a")
    fi
    riscv64-linux-gnu-gcc -std=gnu17 -O1 -nostdinc -isystem "$sysroot/usr/include/riscv64-linux-musl" -isystem "$gcc/include" \
        -idirafter /usr/riscv64-linux-gnu/include -nostdlib "$musl/$start" "$musl/crti.o" \
        "tests/env/linux/programs/$name.c" "${ends[@]}" "$musl/crtn.o" -o "$OUT/bin/$name-$link" 2>"$OUT/errors"
}

# `threads` is left out: QEMU has no robust mutexes for musl.
test_musl() {
    local name link
    command -v riscv64-linux-gnu-gcc >/dev/null || { echo "riscv64-linux-gnu-gcc is not installed: programs with musl are skipped"; return; }
    bin=$(fresh "$OUT/bin")
    for name in memory signals process files pipes ready timers attributes; do
        for link in static dynamic; do
            check "$name with musl, $link: builds" build_musl "$name" "$link"
            same "$name with musl, $link" -- "$name-$link" argument
            [ "$link" = static ] || same "$name with musl, $link, in time" -m ddr3 -- "$name-$link" argument
        done
    done
    bin=$sysroot/usr/bin
}

provide
test_musl
test_commands
test_scripts
conclude
