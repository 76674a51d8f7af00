#!/bin/bash
# Pages shared by blocks, and pages placed by a table: pages.sh CROFT WORKDIR FOLDER (of the compiled examples/simt). croft pages
# agrees with a count of the trace's raw records by sort and awk; a table moves pages, and with them off-chip flits, to where it
# says; errors name file and line. Prints "N passed, N failed".
# shellcheck disable=SC2016 # awk has variables of its own
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"

croft=$(realpath "$1")
folder=$(realpath "$3")
work=$(fresh "$2")
cd "$work" || exit 1

evidence() {
    tail -n 5 errors output
}

"$croft" run -m nupim_pages --trace memory:trace --stats before.json "$folder/stencil" 48 >output 2>errors
check "a trace" test -s trace
"$croft" pages --place table --map map.svg --launch 1 trace >output 2>errors
check "croft pages" test $? = 0

# The oracle: raw records, without stacks, as launch, page, block, multiprocessor; instructions are runs of equal time, pc, place.
zstd -dcq trace | tail -c +65 | od -An -v -t u4 -w48 >records
awk 'int($10 / 65536) % 256 == 3 { print $8, $7 >"blocks" }
    int($10 / 65536) % 512 < 3 {
        page = int(($4 * 4294967296 + $3) / 4096)
        print $8, page, $7, $9 % 65536 >"touches"
        now = $1 " " $2 " " $5 " " $7 " " $8 " " int($9 / 65536); instructions[$8] += now != last; last = now }
    END { for (l in instructions) print l, instructions[l] >"instructions" }' records
awk '{ print $1, $2, $3 }' touches | sort -u | awk '{ print $1, $2 }' | sort | uniq -c | awk '
    FILENAME == "instructions" { weight[$1] = $2; next }
    FILENAME == "blocks" { blocks[$1] = $2; next }
    { pages[$2]++; different[$3]; shared[$2] += $1; most[$2] = $1 > most[$2] ? $1 : most[$2] }
    END { for (l in pages) { sum += weight[l] * shared[l] / pages[l]; all += weight[l]; top = most[l] > top ? most[l] : top
              largest = blocks[l] > largest ? blocks[l] : largest
              printf "%d %d %d %d %.2f %d\n", l, blocks[l], pages[l], weight[l], shared[l] / pages[l], most[l] }
          printf "all %d %d %d %.2f %d\n", largest, length(different), all, sum / all, top }' instructions blocks - | sort >expected
awk 'NR > 1 { $1 = $1; print }' output | sort >found
check "PS_avg and PS_max are those of the records" cmp expected found
check "there is something to compare" test "$(wc -l <expected)" -gt 1

# Each page, in ascending order, goes to the memory from whose four multiprocessors most requests come; of several, to that with
# fewest pages.
awk '{ print $2, int($4 / 4) }' touches | sort -k1,1n -k2,2n | uniq -c | awk '
    function place() { printf "0x%x000 %d\n", page, best; has[best]++ }
    page != $2 { if (NR > 1) place(); page = $2; most = 0 }
    $1 > most || ($1 == most && has[$3] + 0 < has[best] + 0) { most = $1; best = $3 }
    END { place() }' | sort >expected
grep -v '#' table | sort >found
check "places are those of the records" cmp expected found
check "a picture" grep -q "<rect " map.svg

# total FILE NAME: the sum of the statistics that match.
total() {
    awk -v name="$2" '/"total"/ { total = 1 } /"regions"/ { total = 0 }
        total && $1 ~ name { gsub(/[^0-9]/, "", $2); sum += $2 } END { print sum + 0 }' "$1"
}

"$croft" run -m nupim_pages --set pages=table --stats after.json "$folder/stencil" 48 >output 2>errors
oracle expected "$folder/stencil" 48
check "placed pages: qemu's output" cmp -s expected output
echo "$(total before.json net.io.energy) $(total after.json net.io.energy)" >output
check "placed pages save off-chip traffic" awk '{ exit !($2 < 0.9 * $1) }' output

# All pages that threads access in one memory: there its second level answers, at others hardly any.
grep -v '#' table | awk '{ print $1, 11 }' >one
"$croft" run -m nupim_pages --set pages=one --stats one.json "$folder/stencil" 48 >output 2>errors
echo "$(total one.json '"external.3.l2.[01].(reads|writes)"') $(total one.json '"external.4.l2.[01].(reads|writes)"')" >output
check "one memory has all pages" awk '{ exit !($1 > 20 * $2 + 100) }' output

# refuses NAME REGEX SETTING...
refuses() {
    "$croft" show nupim_pages "${@:3}" >output 2>errors
    check "$1: status" test $? = 2
    check "$1: message" grep -qE "^croft show: --set: pages: $2" errors
}
echo "0x80001000 16" >bad
refuses "no such memory" 'bad:1: "16" is not a memory; allowed: 0 to 15' --set pages=bad
echo "0x80001000 016" >bad
refuses "a decimal number with a zero before it" 'bad:1: "016" is not a memory; allowed: 0 to 15' --set pages=bad
printf '# comment\n0x80001004 1\n' >bad
refuses "no page" 'bad:2: "0x80001004" is not the address of a page' --set pages=bad
printf '0x80001000 1\n0x80001000 2\n' >bad
refuses "a page twice" 'bad:2: page 0x80001000 is in two lines' --set pages=bad
echo "0x80001000" >bad
refuses "half a line" 'bad:1: a line consists of' --set pages=bad
refuses "a folder" '[.]: cannot read the table of pages: Is a directory' --set pages=.
refuses "no text" '/dev/zero:1: is no line of text' --set pages=/dev/zero
refuses "no file" 'absent: cannot read the table of pages' --set pages=absent
echo "0x80001000 1" >bad
refuses "another map" '`homes` changes the memory within 4096 bytes' --set pages=bad --set "homes=R12 B4 C4 H4 S4 C2 O6"
"$croft" pages bad >output 2>errors
check "no trace: status" test $? = 1
check "no trace: message" grep -q "^croft pages: bad: " errors
"$croft" pages --page 1000 trace >output 2>errors
check "a bad page: status" test $? = 2
check "a bad page: message" grep -q -- "--page: '1000' is not allowed" errors
# usage NAME REGEX OPTION...
usage() {
    "$croft" pages "${@:3}" trace >output 2>errors
    check "$1: status" test $? = 2
    check "$1: message" grep -qE -- "$2" errors
}
usage "pages that no machine has" "--page: a machine's pages have 4096 bytes" --place new --page 8192
usage "a launch without a map" "--launch: needs --map" --launch 2
"$croft" pages trace >output 2>errors
launch=$(awk '$1 ~ /^[0-9]/ && $4 > most { most = $4; launch = $1 } END { print launch }' output)
"$croft" pages --map one.svg --launch "$launch" trace >output 2>errors
"$croft" pages --map most.svg --launch most trace >output 2>errors
check "the launch with most instructions, of several" test "$launch" -gt 0 -a "$(grep -c '^ *[0-9]' output)" -gt 1
check "the launch with most instructions: its map" cmp -s one.svg most.svg
usage "a launch that is no number" "--launch: 'mast' is not allowed; allowed: 1 to 4294967295, or most" --map new.svg --launch mast
usage "memories without places" "--memories: needs --place" --memories 8
cp table old
"$croft" pages --place table --multiprocessors 8 trace >output 2>errors
check "more multiprocessors: status" test $? = 1
check "more multiprocessors: message" grep -q -- "--multiprocessors: 8; the trace has requests of multiprocessor" errors
check "an older table stays" cmp table old
"$croft" pages --program trace trace >output 2>errors
check "no program: status" test $? = 1
check "no program: message" grep -q -- "--program: trace: cannot be read as an ELF file" errors
conclude
