#!/usr/bin/env bash
# Makes what a boot of Debian 13 (trixie, riscv64) on croft needs, from the mirror of Debian that this machine uses:
# debian.sh FOLDER. It leaves in FOLDER: firmware.bin (OpenSBI), kernel, initrd (finds the disk), debian.img (ext4), and boot.sh,
# which boots them. As root, because files in the image have owners. The packages configure themselves in croft: no emulation by
# the host's kernel (binfmt) is needed.
# Variables: CROFT (the command), INCLUDE (more packages, with commas), SIZE (of the image, default 2G), ROOT_PASSWORD (default:
# none is asked for on the console).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
CROFT=$(realpath "${CROFT:-$here/../../build/bin/croft}")
include=systemd-sysv,udev,kmod,e2fsprogs,login,passwd,python3-minimal${INCLUDE:+,$INCLUDE}

if [ $# -ne 1 ]; then
    echo "usage: examples/linux/debian.sh FOLDER" >&2
    exit 2
fi
for tool in debootstrap:debootstrap mke2fs:e2fsprogs depmod:kmod cpio:cpio xz:xz-utils; do
    command -v "${tool%:*}" >/dev/null || {
        echo "debian.sh: ${tool%:*} is not installed (Debian package ${tool#*:})" >&2
        exit 1
    }
done
mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } | grep -oE 'https?://[^ ]*/debian/?( |$)' | head -n 1)
if [ -z "$mirror" ] || [ "$(id -u)" != 0 ]; then
    echo "debian.sh: it runs as root on Debian, with a mirror in /etc/apt/sources.list" >&2
    exit 1
fi
mkdir -p "$1"/{lists/partial,packages/partial}
cd "$1"
work=$PWD

# The kernel, the firmware and a shell for the initial file system.
: >status
echo "deb [arch=riscv64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >sources.list
cat >apt.conf <<END
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache::archives "$work/packages";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Architecture "riscv64";
APT::Architectures { "riscv64"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
END
apt() {
    APT_CONFIG=$work/apt.conf "apt-$1" -qq "${@:2}"
}
echo "fetching the kernel"
apt get update
image=$(apt cache depends linux-image-riscv64 | sed -n 's/^ *Depends: \(linux-image-.*\)$/\1/p' | head -n 1)
(cd packages && apt get download "$image" opensbi busybox-static)
rm -rf unpacked
for package in packages/*.deb; do
    dpkg-deb -x "$package" unpacked
done
version=${image#linux-image-}
cp "unpacked/boot/vmlinux-$version" kernel
cp unpacked/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.bin firmware.bin
modules=$work/unpacked/usr/lib/modules/$version
mkdir -p unpacked/lib
[ -e unpacked/lib/modules ] || ln -s ../usr/lib/modules unpacked/lib/modules
depmod -b unpacked "$version"

# The initial file system: modules for the disk, in the order in which they need each other, and a script that changes to it.
rm -rf initial
mkdir -p initial/{bin,lib,proc,sys,dev,root}
cp unpacked/usr/bin/busybox initial/bin/
: >initial/order
add_module() {
    local line file name
    line=$(grep -E "/$1\.ko(\.xz)?:" "$modules/modules.dep") || return 0 # built in
    for file in $(tr ' ' '\n' <<<"${line#*:}" | tac) "${line%%:*}"; do
        name=$(basename "$file" .xz)
        [ ! -e "initial/lib/$name" ] || continue
        case $file in
        *.xz) xz -dc "$modules/$file" >"initial/lib/$name" ;;
        *) cp "$modules/$file" "initial/lib/$name" ;;
        esac
        echo "$name" >>initial/order
    done
}
for name in virtio_mmio virtio_blk crc32c_generic ext4; do
    add_module "$name"
done
cat >initial/init <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r name; do insmod "/lib/$name"; done </order
while [ ! -b /dev/vda ]; do sleep 0.1; done
mount -t ext4 /dev/vda /root || exec sh
init=/sbin/init
for word in $(cat /proc/cmdline); do
    case $word in init=*) init=${word#init=} ;; esac
done
for folder in dev proc sys; do mount --move "/$folder" "/root/$folder"; done
exec switch_root /root "$init"
END
chmod +x initial/init
(cd initial && find . | sort | cpio -o -H newc -R 0:0 --quiet) | gzip -n >initrd

# Debian itself: its packages, not configured yet. They are packed again without compression, which would take minutes to undo.
echo "fetching Debian"
rm -rf root
debootstrap --foreign --arch=riscv64 --variant=minbase --include="$include" trixie root "$mirror" >debootstrap.log
for package in root/var/cache/apt/archives/*.deb; do
    dpkg-deb --raw-extract "$package" again
    dpkg-deb --build -Znone again "$package" >/dev/null
    rm -rf again
done
for folder in proc sys dev; do # debootstrap links them in containers
    [ ! -L "root/$folder" ] || rm "root/$folder"
    mkdir -p "root/$folder"
done
# Its second stage does not end if systemd is among the packages beyond the base, so dpkg installs these.
mkdir -p root/more
for package in $(tr '\n' ' ' <root/debootstrap/base); do
    mv "root/var/cache/apt/archives/${package}"_*.deb root/more/
done
: >root/debootstrap/base
mkdir -p root/usr/lib/modules root/etc/dpkg/dpkg.cfg.d
cp -a "$modules" root/usr/lib/modules/
echo force-unsafe-io >root/etc/dpkg/dpkg.cfg.d/first-boot
password='passwd -d root'
[ -z "${ROOT_PASSWORD:-}" ] || password="echo 'root:$ROOT_PASSWORD' | chpasswd"
cat >root/first-boot <<END
#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive
mount -o remount,rw /
mount -t tmpfs tmpfs /run
/debootstrap/debootstrap --second-stage || tail -n 20 /debootstrap/debootstrap.log
mountpoint -q /proc || mount -t proc proc /proc # it unmounts them
mountpoint -q /sys || mount -t sysfs sysfs /sys
dpkg --force-depends --force-overwrite --unpack /more/*.deb && dpkg --configure -a && echo "first boot: done"
$password
echo debian >/etc/hostname
echo '/dev/vda / ext4 defaults 0 1' >/etc/fstab
echo 'deb $mirror trixie main' >/etc/apt/sources.list
printf '[Match]\nName=eth0\n[Network]\nDHCP=ipv4\n' >/etc/systemd/network/eth0.network # where systemd-networkd is started
rm -rf /first-boot /more /debootstrap /etc/dpkg/dpkg.cfg.d/first-boot /var/cache/apt/archives/*.deb
sync
echo u >/proc/sysrq-trigger # all file systems are read-only from here on
sleep 1
echo o >/proc/sysrq-trigger
sleep 1000
END
chmod +x root/first-boot
rm -f debian.img
truncate -s "${SIZE:-2G}" debian.img
mke2fs -q -t ext4 -F -d root debian.img

cat >boot.sh <<END
#!/bin/sh
# Boots Debian; more options of croft run may follow.
cd "\$(dirname "\$0")" || exit
exec "\${CROFT:-$CROFT}" run -m virt --jit=on --set 'memory.size=1 GiB' --set devices.entropy=default --bios firmware.bin --kernel kernel --initrd initrd \\
    --append "console=ttyS0 \$APPEND" --drive file=debian.img "\$@"
END
chmod +x boot.sh
echo "configuring Debian"
APPEND='quiet init=/first-boot' ./boot.sh </dev/null | tee first-boot.log | sed -nu 's/\r//; /^I: \|^first boot/p'
grep -q '^first boot: done' first-boot.log
echo "ready: $1/boot.sh boots Debian"
