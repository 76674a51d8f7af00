#!/bin/bash
# Minimises a random body that differs from qemu-riscv64: minimise.sh random-SEED-BODIES BODY OPTIONS
# of croft run. Removes pieces one by one, prints the remaining ones, and writes the program to OUT.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 2

build=${BUILD:-build}
croft=$(realpath "$build/bin/croft") hazard=$(realpath "$build/tests/nucd/hazard")
IFS=- read -r kind seed bodies <<<"${1##*/}"
body=$2
shift 2
mode=()
[ "$kind" = random ] || { mode=(--faults); bodies=$((2 * bodies)); }
out=${OUT:-$build/tests/nucd/hazards/smaller}
mkdir -p "$out"

# differs PIECES: succeeds if the body without these pieces differs; the program is $out/smaller.
differs() {
    local expected found
    "$hazard" "$seed" "$bodies" "${mode[@]}" --only "$body${1:+:$1}" >"$out/smaller.S" || exit 2
    "$croft" cc -std=gnu17 -O2 -g -I. tests/nucd/hazard/main.c tests/nucd/hazard/run.c tests/nucd/hazard/entry.S "$out/smaller.S" -o "$out/smaller" ||
        exit 2
    expected=$(cd "$out" && { timeout 20 qemu-riscv64 ./smaller "$body" | base64; echo "${PIPESTATUS[0]}"; } 2>/dev/null)
    found=$(cd "$out" && { timeout 60 "$croft" run "${options[@]}" ./smaller "$body" | base64; echo "${PIPESTATUS[0]}"; } 2>/dev/null)
    [ "$expected" != "$found" ]
}

options=("$@") omitted=
if ! differs ""; then
    echo "body $body of ${kind}-$seed does not differ by itself"
    exit 1
fi
for ((piece = 0; piece < 24; piece++)); do
    if differs "${omitted:+$omitted,}$piece"; then omitted=${omitted:+$omitted,}$piece; fi
done
differs "$omitted"
echo "$out/smaller.S, from: hazard $seed $bodies ${mode[*]} --only $body${omitted:+:$omitted}"
awk -v body="body_$body:" '$0 == body { inside = 1 } inside { print } inside && /hazard_done/ { exit }' "$out/smaller.S"
echo "again: cd $out && $croft run ${options[*]} ./smaller $body"
