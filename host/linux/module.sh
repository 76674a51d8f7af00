#!/usr/bin/env bash
# Makes the modules nucd.ko and axram.ko for Debian's kernel: module.sh FOLDER, where examples/linux/debian.sh has left its files. They
# are left in FOLDER. Debian's headers of that kernel are fetched; its modpost, a program for riscv64, runs in croft.
# Variables: CROFT (the command), CROSS (prefix of the compiler's name).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
CROFT=$(realpath "${CROFT:-$root/build/bin/croft}")
CROSS=${CROSS:-riscv64-linux-gnu-}
headers=$(dirname "$CROFT")/../share/croft/include

if [ $# -ne 1 ] || [ ! -e "$1/apt.conf" ]; then
    echo "usage: host/linux/module.sh FOLDER, in which examples/linux/debian.sh has made Debian" >&2
    exit 2
fi
cd "$1"
version=$(basename unpacked/boot/vmlinux-*)
version=${version#vmlinux-}
base=${version%-riscv64}
export APT_CONFIG=$PWD/apt.conf
if [ ! -e headers/fetched ]; then
    echo "fetching the kernel's headers"
    mkdir -p headers
    (cd headers && apt-get download -qq "linux-headers-$version" "linux-headers-$base-common" "linux-kbuild-$base")
    for package in headers/*.deb; do
        dpkg-deb -x "$package" headers
    done
    touch headers/fetched
fi
common=$PWD/headers/usr/src/linux-headers-$base-common
own=$PWD/headers/usr/src/linux-headers-$version
kbuild=$PWD/headers/usr/lib/linux-kbuild-$base
mkdir -p module
flags=(-std=gnu11 -O2 -g -fno-common -fno-strict-aliasing -fno-strict-overflow -fno-pic -fno-asynchronous-unwind-tables
    -fno-unwind-tables -fno-stack-protector -fno-delete-null-pointer-checks -mabi=lp64 -march=rv64imac_zicsr_zifencei
    -mcmodel=medany -mno-save-restore -mno-relax -mno-riscv-attribute -mstrict-align -Wall -Wno-address-of-packed-member -Wno-pointer-sign
    "-ffile-prefix-map=$root/=" -I"$root")
linux=(-nostdinc -I"$root/host/linux/kernel" -I"$common/arch/riscv/include" -I"$own/arch/riscv/include/generated" -I"$common/include"
    -I"$own/include" -I"$common/arch/riscv/include/uapi" -I"$own/arch/riscv/include/generated/uapi"
    -I"$common/include/uapi" -I"$own/include/generated/uapi" -include "$common/include/linux/compiler-version.h"
    -include "$common/include/linux/kconfig.h" -include "$common/include/linux/compiler_types.h"
    -D__KERNEL__ -DMODULE)
compile() { # compile OUTPUT SOURCE FLAGS...
    "${CROSS}gcc" "${flags[@]}" "${@:3}" -c "$2" -o "$1"
}
part() { # part MODULE NAME SOURCE: a file of a module that includes the kernel's headers
    compile "module/$2.o" "$3" "${linux[@]}" "-DKBUILD_BASENAME=\"$2\"" "-DKBUILD_MODNAME=\"$1\"" "-D__KBUILD_MODNAME=kmod_$1"
}
for name in nucd units pages table; do
    part nucd $name "$root/host/linux/$name.c"
done
compile module/decode.o "$root/host/linux/decode.c" -ffreestanding -isystem "$headers"
compile module/operands.o "$root/host/kernel/driver/operands.c" -ffreestanding -isystem "$headers"
"${CROSS}ld" -r -o module/all.o module/{nucd,units,pages,table,decode,operands}.o
mv module/all.o module/nucd.o
part axram axram "$root/host/linux/axram.c"
cp "$own/Module.symvers" module
: >module/modules.order
for name in nucd axram; do
    echo $name.o | tee module/$name.mod >>module/modules.order
    : >module/.$name.o.cmd # has the sums of exported symbols, and there are none
done
(
    cd module
    "$CROFT" run --sysroot "$OLDPWD/root" "$kbuild/scripts/mod/modpost.real-lsb-64" -m -M -e -i Module.symvers -o own.symvers -T modules.order
)
for name in nucd axram; do
    part $name $name.mod module/$name.mod.c
    part $name module-common "$kbuild/scripts/module-common.c"
    "${CROSS}ld" -r --build-id=sha1 -T "$own/arch/riscv/module.lds" -o $name.ko module/$name.o module/$name.mod.o module/module-common.o
    "${CROSS}strip" --strip-debug $name.ko
    echo "ready: $1/$name.ko"
done
