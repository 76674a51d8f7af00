#!/bin/bash
# Builds newlib from Debian's newlib-source package: host/newlib.sh WORKDIR SYSROOT
# WORKDIR keeps the sources, objects and log; SYSROOT receives include/ and lib/.
set -euo pipefail

work=$1
sysroot=$2
target=riscv64-unknown-elf
flags="-O2 -march=rv64gc -mabi=lp64d -mcmodel=medany -ffunction-sections -fdata-sections"
# rename() and fcntl() are real system calls; system() does not fork().
flags="$flags -DHAVE_RENAME -DHAVE_FCNTL -DNO_EXEC"

shopt -s nullglob
tarballs=(/usr/src/newlib/newlib-*.tar.*)
if [ ${#tarballs[@]} -eq 0 ]; then
    echo "newlib: no /usr/src/newlib/newlib-*.tar.*: install Debian's package newlib-source" >&2
    exit 1
fi

mkdir -p "$work"
work=$(cd "$work" && pwd)
log=$work/build.log
# The caller's make variables and environment are for the emulator's compiler; hide them from this build.
unset MAKE MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL CC CFLAGS LDFLAGS CPPFLAGS BUILD CXX

build() {
    rm -rf "$work/source" "$work/object" "$work/stage"
    mkdir -p "$work/source" "$work/object"
    tar -xf "${tarballs[0]}" -C "$work/source" --strip-components=1
    # The library and programs call __getreent() for errno and the rest of struct _reent, so each thread has
    # its own.
    local config="$work/source/newlib/libc/include/sys/config.h"
    sed -i '0,/^#if defined(__m68k__).*__riscv)$/s//#ifdef __riscv\n#define __DYNAMIC_REENT__\n#endif\n&/' "$config"
    grep -q -A 1 '^#ifdef __riscv$' "$config"
    # Order points (nucd.order, isa/MANUAL.md) where library functions begin to use the library's data. Programs with
    # threads have other versions of these functions (host/simt).
    local order='__asm__ volatile(".insn r 0x33, 3, 0, x0, x0, x0" : : : "memory");'
    local libc="$work/source/newlib/libc"
    sed -i "s/^  return _impure_ptr;/  $order\n&/" "$libc/reent/getreent.c"
    sed -i "/^__retarget_lock_\(try_\)\?acquire.*(/,/^}/ s/^{/&\n  $order/" "$libc/misc/lock.c"
    [ "$(grep -c 'x0, x0, x0' "$libc/reent/getreent.c")" -eq 1 ]
    [ "$(grep -c 'x0, x0, x0' "$libc/misc/lock.c")" -eq 4 ]
    cd "$work/object"
    ../source/configure --target=$target --prefix="$work/stage" --disable-multilib --disable-libgloss \
        --disable-newlib-supplied-syscalls --enable-newlib-retargetable-locking \
        --enable-newlib-io-long-long --enable-newlib-io-c99-formats --enable-newlib-io-pos-args \
        --enable-newlib-global-stdio-streams --enable-newlib-atexit-dynamic-alloc MAKEINFO=true CFLAGS_FOR_TARGET="$flags"
    make -j"$(nproc)" all-target-newlib
    make install-target-newlib
}

echo "newlib: building ${tarballs[0]##*/} (log: $log)"
# Run in the background: bash ignores `set -e` in a function that is called as a condition.
build >"$log" 2>&1 &
if ! wait $!; then
    tail -n 30 "$log" >&2
    echo "newlib: the build failed; the whole log is $log" >&2
    exit 1
fi

rm -rf "$sysroot/include" "$sysroot/lib/libc.a" "$sysroot/lib/libm.a" "$sysroot/lib/libg.a"
mkdir -p "$sysroot/lib"
cp -r "$work/stage/$target/include" "$sysroot/include"
# GCC 12 cannot compile newlib 3.3's stdatomic.h. Without it, the compiler uses its own.
rm "$sysroot/include/stdatomic.h"
cp "$work/stage/$target"/lib/lib[cmg].a "$sysroot/lib/"
rm -rf "$work/source" "$work/object" "$work/stage"
