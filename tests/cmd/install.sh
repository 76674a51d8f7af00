#!/bin/bash
# `make install` into a DESTDIR, used by an ordinary user: install.sh MAKE BUILD. Every file that a --help names is there, links between
# the installed pages hold, and examples build and run from there, with qemu-riscv64's output. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

tests=$(realpath "$(dirname "$0")/..")
make=$1
build=$(realpath "$2")
scratch
chmod 755 "$work"
destination=$work/root
prefix=$destination/usr
doc=$prefix/share/doc/croft

# The mask of a careful administrator must not keep users out.
(umask 077 && "$make" --no-print-directory -s install BUILD="$build" SETUP=no PREFIX=/usr DESTDIR="$destination") >"$work/log" 2>&1
check "make install" test $? = 0
chmod 755 "$destination"
mkdir -m 777 "$work/home"
cd "$work/home" || exit 1

# user COMMAND...: runs it as an ordinary user, if we are not one.
user() {
    if [ "$(id -u)" = 0 ]; then
        HOME=$work/home setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}
croft=$prefix/bin/croft

evidence() {
    cat "$work/home/errors" "$work/home/output" "$work/home/missing" 2>/dev/null | head -n 20
}

# helps COMMAND...: the files below share/ that a --help names exist, and none is named by a path of the source tree.
helps() {
    user "$croft" "$@" --help >output 2>errors
    check "croft $* --help" test $? = 0
    tr -s ' ,;()' '\n' <output | sed -nE "s|^($prefix/share/[^ ]*[^.: ])[.:]*$|\1|p" | sort -u >named
    : >missing
    while read -r path; do
        user test -r "$path" || echo "$path" >>missing
    done <named
    check "croft $* --help: files that it names" test ! -s missing
    tr -s ' ,;()' '\n' <output | grep -E '^(examples|emu|tests|isa/include|host)/' >missing
    check "croft $* --help: no path of the source tree" test ! -s missing
    cat named >>all
}
: >all
helps
for command in $(user "$croft" --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on && $1 != "help" { print $1 }'); do
    helps "$command"
done
check "--help names README, manual, examples and descriptions" test "$(sort -u all | wc -l)" -ge 8

# Links between pages.
: >missing
while IFS= read -r page; do
    grep -oE '\]\([^)#]+' "$page" | cut -c3- | grep -v '^http' | while read -r link; do
        user test -r "$(dirname "$page")/$link" || echo "$page: $link"
    done
done < <(find "$doc" -name '*.md') >missing
check "links of installed pages" test ! -s missing
check "pages name the installed command" test "$(grep -rl --include='*.md' 'build/bin/croft' "$doc" | wc -l)" = 0
man -l --warnings "$prefix/share/man/man1/croft-run.1" >output 2>errors
check "a manual page" test ! -s errors -a -s output
grep -l "$destination\|$build" "$prefix"/share/man/man1/* >missing
check "manual pages name installed files" test ! -s missing
check "completion" test -r "$prefix/share/bash-completion/completions/croft" -a -r "$prefix/share/zsh/site-functions/_croft"
check "a licence" test -s "$doc/copyright"
: >missing
find "$prefix" ! -type l ! -perm -o=r >missing
check "everything can be read by everyone" test ! -s missing

# example NAME SOURCE OPTIONS... -- COMPILER OPTIONS: compiles and runs an installed example with run's options.
example() {
    local name=$1 source=$2 options=()
    shift 2
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    : >missing
    user "$croft" cc -O2 "$doc/examples/$source" "$@" -o "$name" >output 2>errors
    check "$name: builds" test $? = 0
    if [[ " $* " != *" --bare "* ]]; then
        oracle expected "./$name"
        user timeout 120 "$croft" run "${options[@]}" "./$name" >output 2>errors
        check "$name: as qemu-riscv64" cmp -s expected output
    else
        user timeout 120 "$croft" run "${options[@]}" "./$name" >output 2>errors
        check "$name: runs" test $? = 0
    fi
}
example hello hello.c --
example vector nucd_vector.c -m nucd --
example mesh hello.c -m "$doc/examples/machines/mesh.yaml" --
example ebox nucd/ebox.c --env kernel -m nucd -- -lm
example add simt/vector_add.c --set simt.count=2 -- -lm
example sobel axram/sobel.c --set simt.count=1 -- -fno-math-errno -lm
example timer firmware/timer.c -m virt -- --bare -g
user "$croft" cc -O2 "$doc"/examples/spmv/{spmv,matrix}.c -lm -o spmv >output 2>errors
check "spmv: builds" test $? = 0
user cc -O2 "$doc/examples/spmv/generate.c" -o generate >output 2>errors && ./generate 1 >circuit.mtx
oracle expected ./spmv circuit.mtx
user timeout 120 "$croft" run ./spmv circuit.mtx >output 2>errors
check "spmv: as qemu-riscv64" cmp -s expected output

# Programs of Linux by the installed toolchain and pkg-config files, with croft not in PATH.
if command -v cmake >/dev/null; then
    for file in "$prefix/share/croft/cmake/riscv64-linux.cmake" "$doc/examples/linux/riscv64-linux.cmake"; do
        rm -rf made
        user cmake -S "$doc/examples/linux/cmake" -B made -DCMAKE_TOOLCHAIN_FILE="$file" >output 2>errors &&
            user cmake --build made >>output 2>>errors
        check "cmake builds with ${file#"$prefix/"}" test $? = 0
        user env -C made ctest >output 2>errors
        check "its programs run" test $? = 0
    done
else
    echo "cmake is not installed: its toolchain file is skipped"
fi
# shellcheck disable=SC2046 # options are words
user riscv64-linux-gnu-g++ -std=c++17 -O2 -static "$doc/examples/linux/kernels.cc" -o kernels \
    $(PKG_CONFIG_PATH=$prefix/share/pkgconfig PKG_CONFIG_SYSROOT_DIR=$destination pkg-config --cflags --libs croft) >output 2>errors
check "a program with pkg-config's options: builds" test $? = 0
oracle expected ./kernels
user timeout 120 "$croft" run -m gpu ./kernels >output 2>errors
check "a program with pkg-config's options: as qemu-riscv64" cmp -s expected output

# The library for other simulators.
CROFT_SYSROOT=$destination "$tests/api/api.sh" "$prefix/lib/pkgconfig" "$croft" "$doc/examples" "$prefix/share/croft/python" >output 2>errors
check "the library" test $? = 0

# A network, and an experiment of two runs by the installed programs.
user timeout 120 "$croft" net "$doc/examples/net/torus.yaml" --set traffic.rates=0.1 --set traffic.measure=1000 >output 2>errors
check "a network" test $? = 0
cat >small.yaml <<X
title: two runs
machine: nucd
options: [--env, kernel]
programs: {ebox: {source: $doc/examples/nucd/ebox.c, flags: [-O2, -lm], arguments: [4]}}
axes: {accelerators: {4: {accel.count: 4}, 8: {accel.count: 8}}}
columns: {time: {statistic: sim.time}}
tables: [{column: time, across: accelerators}]
X
user timeout 300 "$croft" experiment small.yaml --out small >output 2>errors
check "an experiment" test $? = 0 -a -s small/tables.txt
conclude
