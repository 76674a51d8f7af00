#!/bin/bash
# Installs the missing packages of the named groups in host/packages.txt: host/setup.sh GROUP... Needs root or
# sudo; otherwise names the missing packages and exits with status 1.
set -euo pipefail

list=$(dirname "$0")/packages.txt

if [ $# -eq 0 ]; then
    echo "usage: $0 GROUP... (groups: $(awk '!/^#/ && NF { print $1 }' "$list" | sort -u | xargs))" >&2
    exit 2
fi

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "setup: this is not a Debian system. Install equivalents of the packages in $list," >&2
    echo "setup: then tell make that the set-up is done: make SETUP=no" >&2
    exit 1
fi

is_installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted=$(awk -v groups=" $* " '!/^#/ && index(groups, " " $1 " ") { print $2 }' "$list")
missing=()
for package in $wanted; do
    is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: these packages are missing, and installing them needs root or sudo:" >&2
        echo "setup:   ${missing[*]}" >&2
        echo "setup: as root: apt-get install ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "setup: installing ${#missing[@]} packages: ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# apt_get ARGS...: runs apt-get and prints its output only if it fails.
apt_get() {
    if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        echo "setup: apt-get $* failed" >&2
        exit 1
    fi
}

apt_get update
apt_get --no-install-recommends install "${missing[@]}"
# The tests start an sshd of their own; nobody has asked for one that serves this machine.
if [[ " ${missing[*]} " == *" openssh-server "* ]] && [ -d /run/systemd/system ]; then
    "${as_root[@]}" systemctl disable --now ssh.service ssh.socket >"$log" 2>&1 || true
fi
echo "setup: done"
