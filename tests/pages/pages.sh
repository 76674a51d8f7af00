#!/bin/bash
# The pages (README.md and those of rooms and examples): their links, and their commands with what they print.
# pages.sh BUILD [PAGE...]: PAGE is a file of the repository; without one, all pages. UPDATE=1 writes what the commands print
# into the pages instead of comparing it. ALL=1 also runs blocks that take more than a minute.
#
# Commands stand in blocks indented by four spaces, behind "$ "; a line that ends in "\" goes on. What follows is their
# output on both channels. The commands of a page run in one shell, in a folder that looks like the repository. Comments
# before a block or fence say what is special:
#   <!-- file NAME -->       the fence of code is the file NAME
#   <!-- not run: REASON --> the block is not run
#   <!-- long -->            run only with ALL=1
#   <!-- prints otherwise: REASON --> run, but what it prints is not compared
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=tests/lib.sh
source tests/lib.sh
root=$PWD
build=$(realpath "$1")
shift
scratch
# shellcheck disable=SC2154 # scratch sets work
if [ $# -gt 0 ]; then pages=("$@"); else mapfile -t pages < <(git ls-files '*.md'); fi

# links PAGE: prints the links of a page that lead nowhere.
links() {
    local page=$1 link file anchor
    # shellcheck disable=SC2016 # backquotes are text
    sed '/^```/,/^```/d; /^    /d; s/`[^`]*`//g' "$page" | grep -oE '\]\([^)]*\)' | sed 's/^](//; s/)$//' | while read -r link; do
        case $link in
        http://* | https://* | mailto:*) continue ;;
        esac
        file=${link%%#*} anchor=
        if [[ $link == *#* ]]; then anchor=${link#*#}; fi
        if [ -n "$file" ]; then file=$(dirname "$page")/$file; else file=$page; fi
        if [ ! -e "$file" ]; then
            echo "$link: no such file"
        elif [ -n "$anchor" ] && ! anchors "$file" | grep -qxF -- "$anchor"; then
            echo "$link: no such heading"
        fi
    done
}

# anchors PAGE: prints the names of its headings, as GitHub makes them.
anchors() {
    grep -E '^#+ ' "$1" | sed -E 's/^#+ //; s/[^A-Za-z0-9 _-]//g; s/ /-/g' | tr '[:upper:]' '[:lower:]'
}

# commands PAGE: prints the page's commands as a script that writes the output of command N to $out/N; $out/N.want has what
# the page says, $out/N.line the lines of the page that hold it, $out/N.kind is "compare" or "run".
commands() {
    awk -v out="$out" -v all="${ALL:-}" '
        function begin() {
            kind = note ~ /not run/ || (note ~ /long/ && all == "") ? "skip" : note ~ /prints otherwise/ ? "run" : "compare"
            note = ""
            block = 1
            blank = more = 0
        }
        function end() {
            if (open) {
                printf "%s %s\n", first, last > (out "/" number ".line")
                close(out "/" number ".line")
            }
            open = 0
        }
        function want(text) {
            print text > (out "/" number ".want")
        }
        /^```/ {
            end()
            block = 0
            fence = !fence
            if (!fence && file != "") print "CROFT_PAGE_END"
            file = ""
            if (fence && note ~ /<!-- file /) {
                file = note
                sub(/.*<!-- file /, "", file)
                sub(/ -->.*/, "", file)
                printf "cat >%s <<\"CROFT_PAGE_END\"\n", file
            }
            note = ""
            next
        }
        fence { if (file != "") print; next }
        /^<!--/ { end(); block = 0; note = $0; next }
        /^ *$/ { blank += block; next }
        /^    / {
            if (!block) begin()
            text = substr($0, 5)
            if (kind == "skip") next
            if (text ~ /^\$ / || more) {
                if (!more) {
                    end()
                    open = 1
                    number++
                    command = ""
                    sub(/^\$ /, "", text)
                    print kind > (out "/" number ".kind")
                    printf "" > (out "/" number ".want")
                }
                command = command text "\n"
                more = text ~ /\\$/
                first = NR + 1
                last = NR
                if (!more) printf "{ %s} >\"$out/%d\" 2>&1\n", command, number
            } else if (open) {
                for (; blank > 0; blank--) want("")
                want(text)
                last = NR
            }
            blank = 0
            next
        }
        { end(); block = 0; note = "" }
        END { end() }' "$1"
}

# run PAGE: runs the page's commands and compares, or updates the page.
run() {
    local page=$1 place entry number first last
    out=$work/out place=$work/place
    rm -rf "$out" "$place"
    mkdir -p "$out" "$place"
    export out
    for entry in * .gitignore; do
        if [ "$entry" != build ]; then ln -s "$root/$entry" "$place/$entry"; fi
    done
    ln -s "$build" "$place/build"
    commands "$page" >"$work/script"
    (cd "$place" && PATH=$build/bin:$PATH timeout 900 bash "$work/script" </dev/null >/dev/null 2>"$work/errors")
    check "$page: the commands run" test ! -s "$work/errors"
    for ((number = 1; ; number++)); do
        if [ ! -e "$out/$number.kind" ]; then break; fi
        if [ "$(cat "$out/$number.kind")" = run ]; then
            check "$page: command $number runs" test -e "$out/$number"
        elif [ -z "${UPDATE:-}" ]; then
            read -r first last <"$out/$number.line"
            check "$page:$((first - 1)): what the command prints" diff "$out/$number.want" "$out/$number"
        fi
    done
    if [ -n "${UPDATE:-}" ]; then update "$page" $((number - 1)); fi
}

# update PAGE COUNT: replaces what the commands print, from the last one on.
update() {
    local page=$1 number=$2 first last
    for (( ; number > 0; number--)); do
        if [ "$(cat "$out/$number.kind")" = run ]; then continue; fi
        read -r first last <"$out/$number.line"
        sed "s/^/    /; s/^ *$//" "$out/$number" >"$work/text"
        if [ "$last" -ge "$first" ]; then sed -i "${first},${last}d" "$page"; fi
        sed -i "$((first - 1))r $work/text" "$page"
    done
}

evidence() {
    if [ -s "$work/errors" ]; then head -n 5 "$work/errors"; fi
}

for page in "${pages[@]}"; do
    dead=$(links "$page")
    if [ -z "$dead" ]; then pass; else fail "$page: links" "$dead"; fi
    run "$page"
done
conclude
