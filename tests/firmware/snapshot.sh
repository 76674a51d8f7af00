#!/usr/bin/env bash
# Snapshots of machine-mode runs: a run that goes on behind a snapshot is the oracle of the run that begins with it, on the same
# machine and, in all lines but those about time, on a timed one. Then files that are broken. Variables: CROFT (the command), OUT
# (a folder for products).
set -euo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

here=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$here/../..")
CROFT=$(realpath "${CROFT:-build/bin/croft}")
OUT=$(realpath -m "${OUT:-build/tests/snapshot}")
rm -rf "$OUT"
mkdir -p "$OUT/broken"
cd "$OUT"
printf 'ab\n' >typed

"$CROFT" cc --bare -std=gnu17 -O2 -g -Wall -Wextra "-I$here" "$here/snapshot/guest.c" "$here/support/support.c" "$here/support/attempt.S" -lm -o guest
"${HOST_CC:-gcc}" -std=c17 -D_GNU_SOURCE -O1 -Wall -Wextra "-I$root" "$here/snapshot/mutations.c" -o mutations

# run NAME STATUS OPTIONS...: output to NAME.txt, messages to NAME.err.
run() {
    local name=$1 wanted=$2 status=0
    shift 2
    timeout 300 "$CROFT" run "$@" <"${INPUT:-typed}" >"$name.txt" 2>"$name.err" || status=$?
    check "$name: status $status, not $wanted: $(head -n 1 "$name.err")" [ "$status" = "$wanted" ]
}

# ends_as WHOLE PART: the output of PART, which is not empty, is the end of that of WHOLE.
ends_as() {
    check "$2: it prints something else than $1 does from there on" cmp -s <(tail -c "$(stat -c %s "$2.txt")" "$1.txt") "$2.txt"
    check "$2: it prints nothing" [ -s "$2.txt" ]
}

timeless() {
    grep -v '^time ' "$1.txt"
}

same_statistics() {
    sed -i '/"host": {/,$d' "$1" "$2"
    check "$1 and $2: two restored runs have different statistics" cmp -s "$1" "$2"
}

two=(-m virt --set harts=2)
timed=(-m virt --set host.core=inorder --set host.count=2)
run whole 7 "${two[@]}" guest
for at in 1 40000 333333 500001 1000000; do
    run "go$at" 7 "${two[@]}" --save "$at.snapshot" --save-at $at guest
    run "on$at" 7 "${two[@]}" --restore "$at.snapshot" --stats "on$at.json"
    run "again$at" 7 "${two[@]}" --restore "$at.snapshot" --stats "again$at.json"
    ends_as "go$at" "on$at"
    same_statistics "on$at.json" "again$at.json"
    run "timed$at" 7 "${timed[@]}" --restore "$at.snapshot" --stats "timed$at.json"
    check "timed$at: it prints something else" cmp -s <(timeless "on$at") <(timeless "timed$at")
done
run timed 7 "${timed[@]}" --restore 500001.snapshot --stats timed.json
same_statistics timed.json timed500001.json

# Up to the region of interest without time, which warms caches, TLBs and predictors: fewer misses in it than where the run
# begins there.
for name in warmed warmed_again; do
    run $name 7 "${timed[@]}" --restore 333333.snapshot --detail roi --stats $name.json
    check "$name: it prints something else" cmp -s <(timeless on333333) <(timeless $name)
done
same_statistics warmed.json warmed_again.json

# Beside accelerators that take tasks, in memory of their own: the snapshot has no state of theirs.
beside=(-m nucd --set host.core=inorder --set host.count=2 --set accel.count=2 --set 'memory.size=1026 MiB'
    --firmware "$(dirname "$CROFT")/../share/croft/firmware/nucd.elf")
run beside 7 "${beside[@]}" --restore 500001.snapshot
check "beside: it prints something else" cmp -s <(timeless on500001) <(timeless beside)

# At a region of interest: the restored run enters it.
run region 7 "${two[@]}" --save region.snapshot --save-at roi guest
run in_region 7 "${two[@]}" --restore region.snapshot --stats in_region.json
ends_as region in_region
check "region: it begins at another round" grep -q '^round 6' <(head -n 1 in_region.txt)
check "region: its statistics lack the region" grep -q '"second half"' in_region.json
run cold 7 "${timed[@]}" --restore region.snapshot --stats cold.json
misses() {
    sed -n '/"second half"/,$p' "$1" | awk -F'[ ,:]+' '/"host.0.l1d.misses"/ { print $3; exit }'
}
check "warmed: $(misses warmed.json) misses in the region, $(misses cold.json) in that of a run that begins there" \
    [ "$(misses warmed.json)" -lt "$(misses cold.json)" ]

# At the end: the second run begins where the first one stopped.
INPUT=/dev/null run first 124 "${two[@]}" --save end.snapshot --max-insns 700000 guest
run second 7 "${two[@]}" --restore end.snapshot guest
check "end: both parts print something else than the whole" cmp -s <(timeless first && timeless second) <(timeless whole)

# Where the user ends the run on a terminal, which `script` provides, while the guest asks for a byte.
status=0
(sleep 1; printf '\001x'; sleep 0.5) |
    timeout 300 script -qec "'$CROFT' run ${two[*]} --save left.snapshot guest 2>left.err" /dev/null >left.txt || status=$?
check "left: status $status, not 0: $(head -n 1 left.err)" [ "$status" = 0 ]
run entered 7 "${two[@]}" --restore left.snapshot
check "left: both parts print something else than the whole" cmp -s <(timeless left | tr -d '\r' && timeless entered) <(timeless whole)

# The same in the middle of a line that one semihosting call reads.
"$CROFT" cc --bare -std=gnu17 -O2 -Wall -Wextra "$here/snapshot/line.c" -o line
status=0
(sleep 1; printf abc; sleep 0.5; printf '\001x'; sleep 0.5) |
    timeout 300 script -qec "'$CROFT' run -m virt --save half.snapshot line 2>half.err" /dev/null >half.txt || status=$?
check "half: status $status, not 0: $(head -n 1 half.err)" [ "$status" = 0 ]
printf 'de\n' >rest
INPUT=rest run rest 0 -m virt --restore half.snapshot
check "half: the line is $(cat rest.txt)" [ "$(cat rest.txt)" = "6 bytes: abcde" ]
sed 's/^input 3$/input 2000000/' half.snapshot >damaged.snapshot
run damaged 1 -m virt --restore damaged.snapshot
check "damaged: $(cat damaged.err)" grep -qF "input is 0x2000000, and at most 0x1000000 is possible" damaged.err

# Through HTIF and without it, a firmware with a payload: OpenSBI and U-Boot, whose input comes behind the snapshot.
# shellcheck disable=SC2016 # the dollar is for U-Boot
printf '\nversion\nsetenv answer 42\necho the answer is $answer\npoweroff\n' >"$OUT/boot"
bios=${OPENSBI:-/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.elf}
kernel=${UBOOT:-/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin}
for harts in 1 4; do
    INPUT=boot run "boot$harts" 0 -m virt --set harts=$harts --bios "$bios" --kernel "$kernel" --max-insns 3000000000 \
        --save "boot$harts.snapshot" --save-at 30000000
    INPUT=boot run "booted$harts" 0 -m virt --set harts=$harts --max-insns 3000000000 --restore "boot$harts.snapshot"
    ends_as "boot$harts" "booted$harts"
    check "booted$harts: no answer" grep -q 'the answer is 42' "booted$harts.txt"
done

# A disk and an entropy device: the disk's bytes stay in its file, which must be the same.
truncate -s 1M disk
printf 'first' | dd of=disk conv=notrunc status=none
devices=("${two[@]}" --drive file=disk --set devices.entropy=default)
run devices 7 "${devices[@]}" --save devices.snapshot --save-at 400000 guest
run with_devices 7 "${devices[@]}" --restore devices.snapshot
ends_as devices with_devices
cp disk copy
printf 'x' | dd of=disk bs=1 seek=777777 conv=notrunc status=none

# refused NAME TEXT OPTIONS...: one line with the text, status 1 or $STATUS.
refused() {
    local name=$1 text=$2
    shift 2
    INPUT=/dev/null run "$name" "${STATUS:-1}" "$@"
    check "$name: '$(head -n 1 "$name.err")' does not say: $text" grep -qF -- "$text" "$name.err"
    check "$name: more than one line" [ "$(wc -l <"$name.err")" = 1 ]
}
refused changed_disk "its file has changed since the snapshot was taken" "${devices[@]}" --restore devices.snapshot
refused lacks_disk "restore into a machine with the same devices" "${two[@]}" --restore devices.snapshot
refused more_devices "restore into a machine with the same devices" "${devices[@]}" --restore 1.snapshot
refused other_harts "harts is 0x2 in the snapshot and 0x1 in this machine" -m virt --set harts=1 --restore 1.snapshot
refused other_memory "size is 0x" "${two[@]}" --set 'memory.size=64 MiB' --restore 1.snapshot
refused other_isa "--isa" "${two[@]}" --isa rv64gc --restore 1.snapshot
refused clock "has a clock" "${timed[@]}" --save no.snapshot --max-insns 1000 guest
refused no_file "cannot read 'missing'" -m virt --restore missing
refused folder "not a snapshot" -m virt --restore broken
refused program "not a snapshot" -m virt --restore guest
refused unwritable "cannot write" "${two[@]}" --save broken/no/file --max-insns 1000 guest
refused no_region "begun no region of interest" "${two[@]}" --save no.snapshot --save-at roi --max-insns 1000 guest
STATUS=2 refused user "are for --env bare" --save no.snapshot --env user guest
STATUS=2 refused word "--save-at needs a number" --save no.snapshot --save-at here guest
STATUS=2 refused alone "give both" --save-at 7 --env bare guest
INPUT=typed run ended 1 "${two[@]}" --save no.snapshot guest
check "ended: no message" grep -qF "its snapshot was not taken" ended.err
check "a snapshot that failed has left a file" [ ! -e no.snapshot ]

: >empty
refused empty "not a snapshot" -m virt --restore empty
sed '1s/ 1$/ 0/' 1.snapshot >older
refused older "a snapshot of format 0; this croft reads format 1" "${two[@]}" --restore older
size=$(stat -c %s 500001.snapshot)
for part in 1 17 40 700 5000 9000 $((size / 2)) $((size - 3)); do
    head -c "$part" 500001.snapshot >short
    refused "cut$part" "short: " "${two[@]}" --restore short
done
cp 500001.snapshot flipped
printf '\x55' | dd of=flipped bs=1 seek=$((size / 2)) conv=notrunc status=none
refused flipped "the snapshot is damaged" "${two[@]}" --restore flipped
cat 500001.snapshot empty <(echo more) >longer
refused longer "bytes follow its end" "${two[@]}" --restore longer

# Broken fields with a digest that matches: a message, or a guest that fails; never a crash or a hang.
./mutations 500001.snapshot broken "${MUTATIONS:-60}" "${SEED:-1}"
crashes=0
for file in broken/*.snapshot; do
    status=0
    timeout 60 "$CROFT" run "${two[@]}" --max-insns 200000 --restore "$file" </dev/null >broken.txt 2>broken.err || status=$?
    # 124 is that of --max-insns, and of timeout, which prints nothing; a guest's trap ends with 128 and more.
    if [ "$status" -ge 124 ] && ! grep -q '^croft' broken.err; then
        crashes=$((crashes + 1))
        fail "$file: status $status, and no message"
    fi
done
check "broken: $crashes crashes" [ $crashes = 0 ]

conclude
