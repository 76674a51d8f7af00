#!/usr/bin/env bash
# Adds to a Debian that debian.sh has made what its processes need to offload: offload.sh FOLDER [FILE...]. The modules, the library and the
# FILEs, such as programs, are written to /offload in FOLDER/debian.img, and FOLDER gets nucd.sh, axram.sh, and libaxram.a for programs:
#   FOLDER/nucd.sh boot [OPTION...]   boots, without a clock, for a snapshot, on a copy of the disk
#   FOLDER/nucd.sh timed [OPTION...]  restores it on machine nucd, with another copy; axram.sh: on machine axram
# Variables: CROFT (the command), ACCELERATORS (their number, default 16), CROSS (prefix of the compiler's name).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
CROFT=$(realpath "${CROFT:-$root/build/bin/croft}")
CROSS=${CROSS:-riscv64-linux-gnu-}
accelerators=${ACCELERATORS:-16}

if [ $# -lt 1 ] || [ ! -e "$1/debian.img" ]; then
    echo "usage: examples/linux/offload.sh FOLDER [FILE...], FOLDER from examples/linux/debian.sh" >&2
    exit 2
fi
folder=$(realpath "$1")
folder_name=$1
CROFT=$CROFT CROSS=$CROSS "$root/host/linux/module.sh" "$1"
"${CROSS}gcc" -O2 -Wall -I"$root" -fPIC -shared "$root/host/linux/offload.c" -o "$folder/libnucd.so"
"$CROFT" cc --linux -O2 -static "$here/offload/here.c" -o "$folder/here"
CROFT=$CROFT CROSS=$CROSS "$root/host/linux/axram_library.sh" "$folder/libaxram.a"

# debugfs writes into the image without mounting it.
status=0
e2fsck -fp "$folder/debian.img" >"$folder/e2fsck.log" || status=$?
[ $status -le 1 ] || { cat "$folder/e2fsck.log" >&2; exit 1; }
{
    # mkdir of a folder that is there leaves an inode without a name.
    debugfs -R "stat /offload" "$folder/debian.img" 2>/dev/null | grep -q '^Inode:' || echo "mkdir /offload"
    for file in "$folder"/{nucd.ko,axram.ko,libnucd.so,here} "$here/offload/init" "${@:2}"; do
        name=/offload/$(basename "$file")
        printf 'rm %s\nwrite %s %s\nset_inode_field %s mode 0100755\n' "$name" "$(realpath "$file")" "$name" "$name"
    done
} >"$folder/debugfs.in"
debugfs -w -f "$folder/debugfs.in" "$folder/debian.img" >"$folder/debugfs.log" 2>&1
for file in "$folder"/{nucd.ko,axram.ko,libnucd.so,here} "$here/offload/init" "${@:2}"; do
    cmp -s "$file" <(debugfs -R "cat /offload/$(basename "$file")" "$folder/debian.img" 2>/dev/null) || {
        echo "offload.sh: $file was not written to $1/debian.img: is it full?" >&2
        exit 1
    }
done

# Linux sees the hosts and, as a device, the accelerators, which have the memory's last 2 MiB.
firmware=$(dirname "$CROFT")/../share/croft/firmware/nucd.elf
devices="--set 'memory.size=1 GiB' --set devices.entropy=default"
script() { # script NAME MEMORY OPTIONS: MEMORY is what Linux sees
    cat >"$folder/$1.sh" <<END2
#!/bin/sh
# $1.sh boot [OPTION...]: boots Debian without a clock, on disk.img. $1.sh timed [OPTION...]: machine $1, on run.img.
cd "\$(dirname "\$0")" || exit
CROFT=\${CROFT:-$CROFT}
what=\$1
shift
case \$what in
boot)
    cp --sparse=always debian.img disk.img
    "\$CROFT" run $3 --bios firmware.bin --kernel kernel --drive file=disk.img --dump-dtb $1.dtb || exit
    exec "\$CROFT" run -m virt --jit=on --set 'memory.size=$2' --set devices.entropy=default --dtb $1.dtb --bios firmware.bin \\
        --kernel kernel --initrd initrd --append "console=ttyS0 \$APPEND" --drive file=disk.img "\$@"
    ;;
timed)
    cp --sparse=always disk.img run.img
    exec "\$CROFT" run $3 --drive file=run.img "\$@"
    ;;
*)
    sed -n 2p $1.sh >&2
    exit 2
    ;;
esac
END2
    chmod +x "$folder/$1.sh"
    echo "ready: $folder_name/$1.sh boots Debian for machine $1"
}
script nucd '1022 MiB' "-m nucd --set accel.count=$accelerators --set nucd.mode=driver $devices --firmware $firmware"
script axram '1 GiB' "-m axram $devices"
