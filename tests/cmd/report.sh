#!/bin/bash
# Tests croft report: report.sh CROFT. Opens pages of experiments of 10, 1000 and 100000 rows, and of single runs, in a
# browser without a window: what they draw, keys, buttons, what is saved, light and dark, print. Prints "N passed, N failed".
# KEEP=FOLDER keeps the pages and pictures of them.
# shellcheck disable=SC2016,SC2181 # descriptions have variables of their own; the status belongs to the line before
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib.sh
source "$here/../lib.sh"
# shellcheck source=tests/cmd/browser.sh
source "$here/browser.sh"

croft=$(realpath "$1")
keep=${KEEP:-}
scratch
cd "$work" || exit 1

evidence() {
    tail -n 5 messages
    head -c 600 output
}

browser_start "$work/chrome" || {
    fail "the browser starts" "$(tail -n 5 chrome/log)"
    conclude
    exit
}
trap 'browser_stop; rm -rf "$work"' EXIT
mkdir saved
downloads saved

# check_page NAME EXPRESSION: a test that the expression is true in the page.
check_page() {
    look "$2" >output
    [ "$(cat output)" = true ]
    judge $? "$1"
}

# The least contrast of a text with what is behind it (WCAG 2.1, 1.4.3), by elements of the page, without those that are hidden
# and those of drawings that are white anyway.
contrast='(() => {
    const light = colour => {
        const parts = colour.match(/[\d.]+/g).map(Number);
        const [r, g, b] = parts.map(part => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return {value: 0.2126 * r + 0.7152 * g + 0.0722 * b, clear: parts.length > 3 && parts[3] === 0};
    };
    const behind = element => {
        for (let at = element; at; at = at.parentElement) {
            const back = light(getComputedStyle(at).backgroundColor);
            if (!back.clear) return back.value;
        }
        return 1;
    };
    let least = {ratio: 99};
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        if (!own || /^(SCRIPT|STYLE|NOSCRIPT|OPTION|TITLE)$/i.test(element.tagName) || element.closest("figure.plain") || element.closest("style") || !element.getClientRects().length) continue;
        const style = getComputedStyle(element), text = light(element.closest("svg") ? style.fill : style.color), back = behind(element);
        if (text.clear) continue;
        const ratio = (Math.max(text.value, back) + 0.05) / (Math.min(text.value, back) + 0.05);
        if (ratio < least.ratio) least = {ratio, text: element.textContent.slice(0, 40)};
    }
    return least;
})()'

# readable NAME RATIO: a test that all texts have this contrast.
readable() {
    look "$contrast" >output
    jq -e ".ratio >= $2 and .ratio < 99" output >/dev/null
    judge $? "$1: contrast of $(cat output)"
}

# picture NAME: keeps one of the page.
picture() {
    if [ -n "$keep" ]; then shot "$keep/$1.png" true; fi
}

# saves NAME FILE EXPRESSION: a test that the page hands the file out when the expression is evaluated.
saves() {
    rm -f "saved/$2"
    look "$3" >output
    arrives "saved/$2"
    judge $? "$1 saves $2"
}

# button TITLE TEXT: the expression that clicks a button of a figure.
button() {
    echo "[...document.querySelectorAll('figure')].find(box => box.querySelector('b')?.textContent === '$1').querySelector('button[title=\"$2\"]').click()"
}

# drawn FIGURES: succeeds if all figures can be drawn, and there are at least so many.
drawn() {
    look "drawAll(), [document.querySelectorAll('figcaption').length >= $1, waiting.size, [...document.querySelectorAll('.broken')].map(text => text.textContent)]" >output
    [ "$(cat output)" = '[true,0,[]]' ]
}

for count in 10 1000 100000; do
    awk -v rows="$count" -f "$here/rows.awk" >"rows$count.json"
    "$croft" report "rows$count.json" -o "rows$count.html" 2>messages
    judge $? "a page of $count rows"
    [ "$(stat -c %s "rows$count.html")" -lt 20000000 ]
    judge $? "its size, $(stat -c %s "rows$count.html") bytes, is below 20 MB"
    visit "rows$count.html"
    judge $? "it opens"
    # The title is text, and the table holds only the rows in view; figures out of view are not drawn.
    check_page "$count rows: the title is text" 'document.querySelector("h1").textContent === "rows </script><b>&amp;" && !document.querySelector("h1 b")'
    check_page "$count rows: the table has the rows in view" '(lines => lines >= 10 && lines <= 200)(document.querySelectorAll(".rows tr[tabindex]").length)'
    check_page "$count rows: figures out of view wait, and the page is small" '(waiting.size >= 1 || rowCount < 100) && document.querySelectorAll("*").length < 4000'
    drawn 2
    judge $? "$count rows: it draws its figures"
    check_page "$count rows: a point has its name below it" '[...document.querySelectorAll("svg text")].some(text => text.textContent === "8KiB")'
    picture "rows$count"
    if [ -n "$keep" ]; then cp "rows$count.html" "$keep/"; fi
done
! grep -Eq '(src|href)="?https?:|@import|url\(http' rows10.html
judge $? "pages load nothing"

# Keys. The first element that Tab reaches is the first of the page; a heading sorts; the table scrolls.
visit rows1000.html
press Tab 9
check_page "Tab reaches the first button, and shows it" 'document.activeElement.id === "theme" && getComputedStyle(document.activeElement).outlineStyle === "solid"'
order=
for _ in {1..9}; do
    press Tab 9
    order+=$(look 'document.activeElement.ariaLabel || document.activeElement.textContent')
done
[ "$order" = '"Results""Figures""filter""CSV""results""program""size""n""cycles"' ]
judge $? "Tab goes through the page in order: $order"
press Enter 13 $'\r'
check_page "Enter sorts by a column" 'document.querySelector("th[aria-sort=ascending]").textContent.startsWith("cycles") && JSON.stringify([...document.querySelectorAll(".rows tr[tabindex]")].slice(0, 3).map(line => line.children[3].textContent)) === JSON.stringify(["0", "93", "186"])'
press Enter 13 $'\r'
check_page "Enter again sorts downwards" 'document.querySelector("th[aria-sort=descending]").textContent.startsWith("cycles") && Number(document.querySelector(".rows tr[tabindex]").children[3].textContent.replace("\u2009", "")) > 99800'
look 'document.querySelector(".rows").focus()' >output
press End 35
check_page "End scrolls to the last row" 'new Promise(done => setTimeout(() => done([...document.querySelectorAll(".rows tr[tabindex]")].at(-1).children[3].textContent === "0"), 50))'
press Home 36
press ArrowDown 40
check_page "Home and the arrows scroll" 'document.querySelector(".rows").scrollTop === 24'
look 'document.querySelector("input[type=search]").focus()' >output
browser_call Input.insertText '{"text": "P3"}'
check_page "the filter leaves rows" 'document.querySelector("[role=status]").textContent === "200 of 1\u2009000 rows" && [...document.querySelectorAll(".rows tr[tabindex]")].every(line => line.children[0].textContent === "p3")'

# What is saved: the table as it is sorted and filtered, the whole table, a figure's numbers and its drawing.
saves "the table" results.csv 'document.querySelector(".bar button").click()'
[ "$(wc -l <saved/results.csv)" -eq 201 ] && sed -n 2p saved/results.csv | grep -q '^p3,'
judge $? "it has the rows that are left"
visit rows1000.html
saves "the table" results.csv 'document.querySelector(".bar button").click()'
awk 'BEGIN {
    print "program,size,n,cycles,value,value.reference,failure"
    for (i = 0; i < 1000; i++)
        printf "p%d,%dKiB,%d,%d,%s,%s,\n", i % 5, 2 ^ (i % 7), i, (i * 7919) % 100003, sprintf("%.4f", i % 97 / 7) + 0, i % 50 ? "" : 3
}' >expected.csv
cmp -s saved/results.csv expected.csv
judge $? "all rows, to the byte"
saves "a figure" value-by-size.csv "$(button 'value by size' 'save the numbers')"
awk 'NR == 1 { print "size,program,value,value.reference,rows" }
    { z = (NR - 1) % 5; x = (NR - 1) % 7; sum[x, z] += sprintf("%.4f", (NR - 1) % 97 / 7); count[x, z]++; if ((NR - 1) % 50 == 0) mark[x, z] = 3 }
    END { for (x = 0; x < 7; x++) for (z = 0; z < 5; z++) printf "%dKiB,p%d,%.6f,%s,%d\n", 2 ^ x, z, sum[x, z] / count[x, z], mark[x, z], count[x, z] }' \
    <(seq 1000) >expected.csv
awk -F, 'NR == 1 { print; next } { printf "%s,%s,%.6f,%s,%s\n", $1, $2, $3, $4, $5 }' saved/value-by-size.csv | cmp -s - expected.csv
judge $? "means by size and program"
look 'waiting.size' >output
saves "a figure that is not drawn" value-along-n.svg "$(button 'value along n' 'save the drawing')"
jq -Rs . saved/value-along-n.svg >text.json
check_page "it is a drawing" "(async () => {
    const text = $(cat text.json), page = new DOMParser().parseFromString(text, 'image/svg+xml'), picture = new Image();
    picture.src = 'data:image/svg+xml,' + encodeURIComponent(text);
    await picture.decode();
    return !page.querySelector('parsererror') && picture.naturalWidth >= 1000 && page.querySelectorAll('path').length >= 5 &&
        ['p0', 'p4'].every(name => [...page.querySelectorAll('text')].some(label => label.textContent === name)) && !/var\(|https?:\/\/(?!www.w3.org)/.test(text);
})()"

# Light, dark, and print, which is light whatever the screen is.
drawn 2
readable "light" 4.5
media screen dark
check_page "dark is dark" 'getComputedStyle(document.body).backgroundColor === "rgb(21, 24, 28)"'
readable "dark" 4.5
picture dark
look 'document.getElementById("theme").click()' >output
check_page "the button changes to light" 'getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"'
readable "light by the button" 4.5
look 'document.getElementById("theme").click()' >output
media print dark
readable "print from a dark page" 7
check_page "print has white paper, and no buttons" 'getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)" &&
    [...document.querySelectorAll("nav, figcaption button, .bar, #theme")].every(element => !element.getClientRects().length) && document.querySelector("th button").getClientRects().length > 0'
picture print
media "" light
visit rows100000.html
browser_call Page.printToPDF '{"printBackground": false, "generateTaggedPDF": false}' && jq -r .result.data <<<"$reply" | base64 -d >rows.pdf
[ "$(head -c 5 rows.pdf)" = %PDF- ] && [ "$(grep -ac '/Type */Page$' rows.pdf)" -ge 20 ] && [ "$(grep -ac '/Type */Page$' rows.pdf)" -le 60 ]
judge $? "it is printed on $(grep -ac '/Type */Page$' rows.pdf) pages"
check_page "all figures are drawn for that, and the table is short again" 'waiting.size === 0 && document.querySelectorAll(".rows tr[tabindex]").length <= 200'

# Single runs: pages of machines with cores, multiprocessors and networks.
cat >program.c <<'C'
#include <croft/roi.h>
#include <stdlib.h>
int main(void)
{
    char *bytes = calloc(1, 1 << 16);
    volatile double sum = 1;
    croft_roi_begin("sweep");
    for (int i = 0; i < 1 << 16; i += 64)
        bytes[i] += 1, sum = sum * 1.5 + i;
    croft_roi_end("sweep");
    return bytes[64] != 1;
}
C
"$croft" cc -O2 program.c -o program.elf
"$croft" run -m "$here/../../examples/machines/mesh.yaml" --set dram.bank_statistics=true --trace dram:trace --stats mesh.json program.elf 2>messages
judge $? "a run on a machine with a network"
"$croft" report mesh.json -o mesh.html 2>messages && visit mesh.html && drawn 8
judge $? "its page"
picture mesh
for title in 'CPI by core' 'Energy by component' 'Flits by node of mesh' 'Busy clocks by port of mesh' 'Histogram: dram.read_clocks' 'dram: its copies' Roofline \
    'Roofline of instructions' 'dram: activates by bank' 'dram: reads by bank' 'dram: row hits by bank' 'dram: row conflicts by bank'; do
    check_page "$title is drawn" "[...document.querySelectorAll('figcaption b')].some(text => text.textContent === '$title' && text.closest('figure').querySelector('svg'))"
done
check_page "regions and the machine's graph are there" '[...document.querySelectorAll("option")].some(option => option.value === "sweep") && document.querySelectorAll(".node").length > 3'
readable "a single run" 4.5
media screen dark
readable "a single run, dark" 4.5
media screen light

# The heat map's numbers are those of the banks, which are what the trace of the commands has.
saves "a heat map" dram-reads-by-bank.csv "$(button 'dram: reads by bank' 'save the numbers')"
tail -n +2 saved/dram-reads-by-bank.csv | awk -F, '$3 { print $1, $2, $3 }' | sort >heat
grep -v '^#' trace* | awk -v banks="$(jq '[.statistics | keys[] | select(test("dram\\.0\\.bank\\.[0-9]+\\.reads"))] | length' mesh.json)" \
    -v groups="$("$croft" show "$here/../../examples/machines/mesh.yaml" | awk '$1 == "groups:" { print $2; exit }')" \
    -v each="$("$croft" show "$here/../../examples/machines/mesh.yaml" | awk '$1 == "banks:" && groups { print $2; exit } $1 == "groups:" { groups = 1 }')" \
    '{ bank = ($4 * groups + $5) * each + $6 } $3 ~ /^RDA?$/ { reads[$2 " " bank]++ }
    $3 == "ACT" { acts++ } $3 ~ /^(RD|WR)A?$/ { columns++ }
    END { for (at in reads) print at, reads[at]; print acts, columns > "sums" }' | sort >counted
[ -s heat ] && cmp -s heat counted
judge $? "reads by bank are those of the trace"
jq -r '.total | [(to_entries | map(select(.key | test("bank\\.[0-9]+\\.activates$")).value) | add), (to_entries | map(select(.key | test("bank\\.[0-9]+\\.(reads|writes)$")).value) | add)] | join(" ")' mesh.json | cmp -s - sums
judge $? "activates and bursts are those of the trace"

# The roofline's point: operations by class over bytes and time.
saves "the roofline" roofline.csv "$(button Roofline 'save the numbers')"
jq -r '.total as $t | ([$t | to_entries[] | select(.key | test("class\\.(alu|mul|div|fadd|fmul|fdiv|fsqrt)$")).value] | add) + 2 * ([$t | to_entries[] | select(.key | test("class\\.fma$")).value] | add)
    | [. / (($t["dram.reads"] + $t["dram.writes"]) * 64), . / ($t["sim.time"] / 1e6)] | map(. * 1e6 | round / 1e6) | join(",")' mesh.json >expected.csv
tail -n 1 saved/roofline.csv | awk -F, '{ printf "%.6g,%.6g\n", $2, $3 }' >output
awk -F, '{ printf "%.6g,%.6g\n", $1, $2 }' expected.csv | awk -F, 'NR == FNR { x = $1; y = $2; next } { exit !($1 > 0 && (x - $1) ^ 2 <= ($1 * 1e-4) ^ 2 && (y - $2) ^ 2 <= ($2 * 1e-4) ^ 2) }' output -
judge $? "the roofline has operations a byte and a nanosecond"
saves "all statistics" statistics.csv '[...document.querySelectorAll("#one-run .bar button")].at(-1).click()'
jq -r '.statistics as $s | .total | to_entries[] | "\(.key),\(.value // "")"' mesh.json >expected.csv
tail -n +2 saved/statistics.csv | cut -d, -f1,2 | cmp -s - expected.csv
judge $? "they are those of the run"

# Instructions of accelerators by class, which rooflines count, add up to those of the accelerators.
"$croft" run -m nucd --stats nucd.json program.elf 2>messages
jq -e '[.total | to_entries[] | select(.key | test("^accel\\.class\\.")).value] as $classes | [.total | to_entries[] | select(.key | test("^accel\\.[0-9]+\\.instructions$")).value] as $all
    | ($classes | length) > 10 and ($all | add) > 100 and ($classes | add) == ($all | add)' nucd.json >output
judge $? "instructions of accelerators by class"

# An experiment with details of its runs.
cat >two.yaml <<'Y'
title: two machines
machine: nucd
programs: {sweep: {file: program.elf, region: sweep}}
axes: {on: {nucd: {}, ddr3: {$machine: ddr3}}, size: {set: l2.size, values: [512 KiB, 1 MiB]}}
where: ["size < 1000000"]
columns: {cycles: {statistic: host.0.cycles}, speedup: {speedup: cycles, from: {on: nucd, size: 512KiB}}}
tables: [{column: speedup, across: on}]
references: [{column: speedup, at: {on: ddr3}, value: 0.9, source: by hand}]
Y
"$croft" experiment two.yaml >output 2>messages
"$croft" report two.results -o two.html 2>messages && visit two.html && drawn 8
judge $? "an experiment with the statistics of its runs"
picture two
check_page "its figures" '[...document.querySelectorAll("option")].some(option => option.textContent.startsWith("sweep ddr3")) && document.body.textContent.includes("CPI stacks of the hosts") && document.body.textContent.includes("Marks: the references")'
check_page "a click on a row shows its run" 'document.querySelectorAll(".rows tr[tabindex]")[1].click(), document.querySelector("select[aria-label=run]").selectedOptions[0].textContent.startsWith("sweep ddr3")'
"$croft" report two.results/results.db -o again.html 2>messages && cmp -s two.html again.html
judge $? "the same from results.db"

# Units of columns: those of the statistics, if they are certain. A failed run ends early, so its bars say so.
cat >units.yaml <<'Y'
title: units
machine: nucd
programs: {sweep: {file: program.elf, region: total}}
axes: {size: {set: l2.size, values: [512 KiB, 1 MiB, 3 KiB]}}
columns:
  t: {statistic: sim.time}
  energy: {statistic: "*.energy"}
  cycles: {statistic: host.0.cycles}
  mixed: {statistic: [sim.time, host.0.cycles]}
  speedup: {speedup: t, from: {size: 512KiB}}
  share: {divide: [t, t]}
  scaled: {divide: [t, share]}
  rate: {divide: [cycles, t]}
tables: [{column: t, across: size}, {column: energy, across: size}]
references: [{column: t, at: {size: 1MiB}, value: 2e9, source: by hand}]
Y
"$croft" experiment units.yaml >output 2>messages
jq -ce .units units.results/results.json >output
[ "$(cat output)" = '{"t":"fs","energy":"fJ","cycles":"cycles","scaled":"fs"}' ]
judge $? "units of columns"
[ "$(grep -E '^[^ ].*: [a-z]+ \(' units.results/tables.txt | sed 's/.*: //' | tr '\n' ' ')" = 't (us) energy (uJ) ' ] &&
    [ "$(head -n 1 units.results/results.csv)" = program,size,t,t.reference,energy,cycles,mixed,speedup,share,scaled,rate,failure ]
judge $? "units in tables"
"$croft" report units.results -o units.html 2>messages && visit units.html && drawn 8
judge $? "a page with units"
picture units
time_of() { jq -r ".rows[0].values.t" units.results/results.json; }
check_page "headings have units that people read" 'JSON.stringify([...document.querySelector(".rows").querySelectorAll("th")].map(head => head.textContent).slice(2)) === JSON.stringify(["t (us)", "energy (uJ)", "cycles", "mixed", "speedup", "share", "scaled (us)", "rate", "failure"])'
check_page "their numbers, too" "(cell => cell.startsWith(format($(time_of) / 1e9)))(document.querySelectorAll('.rows tr[tabindex]')[0].children[2].textContent)"
check_page "and references" "[...document.querySelectorAll('.rows tr[tabindex] small')].map(text => text.textContent).join() === ' (2)'"
check_page "axes have them" '["t (us)", "energy (uJ)"].every(label => [...document.querySelectorAll("figure svg text")].some(text => text.textContent.includes(label)))'
check_page "labels of tiny numbers fit, too" '(labels => labels.length > 4 && labels.every(label => label.length < 7))([...[...document.querySelectorAll("figure")].find(box => box.querySelector("b")?.textContent === "rate along size").querySelectorAll("svg g[aria-label^=y-axis][aria-label*=label] text")].map(text => text.textContent).filter(text => /[0-9]/.test(text)))'
saves "times" t-by-size.csv "$(button 't by size' 'save the numbers')"
head -n 1 saved/t-by-size.csv | grep -qx 'size,program,t (fs),t (fs).reference,rows' && grep -q "^512KiB,sweep,$(time_of)," saved/t-by-size.csv
judge $? "they are not rounded, and their heading has the unit"

# A run that fails when it has run for a while: a check at the program's end.
cat >fails.c <<'C'
#include <stdlib.h>
int main(int argc, char **argv)
{
    volatile long n = 3000;
    while (n > 0)
        n--;
    return argc > 1 ? atoi(argv[1]) : 0;
}
C
cat >fails.yaml <<'Y'
title: failing
machine: nucd
programs: {fails: {source: fails.c, flags: -O1, arguments: [$status], region: total}}
axes: {status: {set: $status, values: [0, 3]}}
columns: {t: {statistic: sim.time}}
Y
"$croft" experiment fails.yaml >output 2>messages
"$croft" report fails.results -o fails.html 2>messages && visit fails.html && drawn 3
judge $? "an experiment with a run that fails"
picture fails
stack_of='[...document.querySelectorAll("figure")].find(box => box.querySelector("b")?.textContent === "CPI stacks of the hosts")'
check_page "its bars are marked" "(box => ['fails 0', 'fails 3 (failed)'].every(name => [...box.querySelectorAll('svg text')].some(text => text.textContent === name)) && box.textContent.includes('Runs that failed are pale'))($stack_of)"
check_page "they are pale, others are not" "(bars => bars.has('0.35') && bars.has('1'))(new Set([...$stack_of.querySelectorAll('g[aria-label=bar] rect')].map(bar => bar.getAttribute('fill-opacity'))))"
readable "a failure" 4.5
media screen dark
readable "a failure, dark" 4.5
media screen light

# table_of FILE TITLE POINTS...: writes tables of one column by the axes `program`, `size` and `mode`. A point is PROGRAM SIZE MODE VALUE.
table_of() {
    local file=$1 title=$2 program size mode value rows=
    shift 2
    while read -r program size mode value; do
        rows+="${rows:+, }{\"at\": {\"program\": \"$program\", \"size\": \"$size\", \"mode\": \"$mode\"}, \"failed\": false, \"values\": {\"v\": $value}, \"references\": {}}"
    done < <(printf '%s\n' "$@")
    echo "{\"format\": \"croft experiment 1\", \"title\": \"$title\", \"machine\": \"functional\", \"tables\": [{\"column\": \"v\", \"across\": \"mode\"}], \"rows\": [$rows]}" >"$file.json"
    "$croft" report "$file.json" -o "$file.html" 2>messages && visit "$file.html" && drawn 2
    judge $? "$title"
}

# bars FIGURE: an expression for the colours of a figure's bars.
bars() {
    echo "[...[...document.querySelectorAll('figure')].find(box => box.querySelector('b')?.textContent === '$1').querySelectorAll('g[aria-label=bar] rect')].map(bar => bar.getAttribute('fill') || bar.parentNode.getAttribute('fill'))"
}

# The same point has the same colour in each panel, also where others are missing.
table_of panels "panels that lack points" "p small none 1" "p small driver 2" "p large driver 3" "p large nucd 4" "q small none 1" "q small driver 2"
check_page "a point has its colour in all panels" "(bars => bars.length === 6 && new Set(bars).size === 3)($(bars 'v by mode, for each size'))"
check_page "panels have their names" '["small", "large"].every(name => [...document.querySelectorAll("figure svg text")].some(text => text.textContent === name))'

# With one program there are no panels, and no rows of its mean, which would be the same.
table_of one "one program" "p small none 1" "p small driver 2" "p large driver 3" "p large nucd 4" "mean small none 1" "mean small driver 2" "mean large driver 3" "mean large nucd 4"
check_page "the bars of one program lie beside one another" "(bars => bars.length === 4 && bars[1] === bars[2] && new Set(bars).size === 3)($(bars 'v by mode'))"
check_page "one program's mean has no rows" 'document.querySelector("main").textContent.includes("4 of 4 rows")'
table_of two_programs "two programs" "p small none 1" "q small none 2" "mean small none 1.5"
check_page "the mean of two programs has a row" 'document.querySelector("main").textContent.includes("3 of 3 rows")'

# Long names are shortened where they would overlap or leave the page. Names that are equal, or those of JavaScript's properties, are names.
apart='[...document.querySelectorAll("figure svg")].every(drawing => [...drawing.querySelectorAll("g[aria-label*=tick]")].every(axis => {
    const boxes = [...axis.querySelectorAll("text")].map(text => text.getBoundingClientRect()).filter(box => box.width), edge = drawing.getBoundingClientRect();
    return boxes.every((a, i) => a.right <= edge.right + 1 && a.left >= edge.left - 1 && boxes.every((b, j) => j <= i || a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 2 || b.bottom <= a.top + 2));
}))'
long=a_very_long_name_of_a_point_that_goes_on_and_on_and_on_until_it_is_longer_than_its_bars
points=()
for p in 1 2 3; do for z in 1 2 3; do for m in 1 2 3 4; do points+=("$long$p $long$z $long$m $((p * 100 + z * 10 + m))"); done; done; done
table_of long "$long $long $long" "${points[@]}"
picture long
check_page "long names do not overlap" "$apart"
check_page "they keep their ends" "[1, 2, 3].every(p => [...document.querySelectorAll('figure svg text')].some(text => /^a_very.*\u2026.*bars\d\$/.test(text.textContent) && text.textContent.endsWith(p)))"
check_page "the page is no broader than the window" 'document.documentElement.scrollWidth <= innerWidth'
table_of props "names of properties" "__proto__ constructor toString 1" "__proto__ constructor valueOf 2" "toString constructor toString 3" "toString __proto__ valueOf 4"
check_page "names of JavaScript's properties are names" "(bars => bars.length === 4 && new Set(bars).size === 2)($(bars 'v by mode, for each size'))"
table_of equal "equal names" "same same same 1" "same same other 2" "other other same 3" "other same other 4"
check_page "equal names of several axes are names" "$apart && (bars => bars.length === 4 && new Set(bars).size === 2)($(bars 'v by mode, for each size'))"

# Names of colours are names.
table_of colours "points named like colours" "p a none 11182000000" "p a transparent 11174000000" "p a red 11156000000" "p a white 9000000000"
check_page "points named like colours are drawn in the page's" "(bars => bars.length === 4 && new Set(bars).size === 4 && bars.every(bar => /^#/.test(bar) && !/^#(fff|ffffff|f00|ff0000)\$/.test(bar)))($(bars 'v by mode'))"
check_page "labels of the y axis differ" '(labels => labels.length > 4 && new Set(labels).size === labels.length && labels.every(label => label.length < 7))([...document.querySelector("figure svg g[aria-label^=y-axis][aria-label*=label]").querySelectorAll("text")].map(text => text.textContent).filter(text => /\d/.test(text)))'

# What cannot be read.
wrong() {
    "$croft" report "${@:2}" -o wrong.html >output 2>messages
    [ $? -eq 1 ] && grep -qF "croft report: $1" messages && [ ! -e wrong.html ]
    judge $? "$1"
}
echo '{"format": "croft experiment 1"' >wrong.json
wrong 'wrong.json: line 2: not JSON' wrong.json
echo '{"format": "other"}' >wrong.json
wrong "wrong.json: its format is neither" wrong.json
wrong "none: No such file" none
wrong "two.results/results.db: no experiment 'three'" two.results/results.db --experiment three
mkdir empty
wrong "empty/results.json: No such file" empty

conclude
