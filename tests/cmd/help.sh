#!/bin/bash
# Manual pages and completion: help.sh BUILD. Pages pass groff, mandoc and man without warnings, and have what --help has; the keys
# that completion offers are those of `croft show`; bash and zsh complete command lines on a terminal. Prints "N passed, N failed".
set -uo pipefail
# shellcheck source=tests/lib.sh
source "$(dirname "$0")/../lib.sh"
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "$1")
croft=$build/bin/croft
here=$PWD
scratch
cd "$work" || exit 1

evidence() {
    head -n 20 "$work/errors"
}

# words WORD...: what the last word can become.
words() {
    "$croft" complete "$@" | cut -f 1
}

mapfile -t commands < <("$croft" --help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on && $1 != "help" { print $1 }')
check "commands" test "${#commands[@]}" -ge 13
"$croft" help --man >croft.1
for command in "${commands[@]}"; do
    "$croft" help --man "$command" >"croft-$command.1" 2>errors
    check "croft help --man $command" test $? = 0 -a ! -s errors
    check "croft.1 names $command" grep -qF "croft\\-$command" croft.1
    "$croft" "$command" --help | sed -nE 's/^  (-., |    )(--[a-z-]+).*/\2/p' >options
    mandoc -T ascii "croft-$command.1" | col -b >page
    while read -r option; do grep -qE "^ *(-., )?$option( |\$)" page || echo "$option"; done <options >errors
    check "croft-$command.1: all options" test ! -s errors
    # GCC's own options are completed by nobody.
    words "$command" -- | sort >offered
    sort options | diff - offered >errors
    check "croft $command: completion offers all options" test ! -s errors
done
for page in croft*.1; do
    {
        groff -man -ww -z -Tutf8 "$page"
        mandoc -T lint -W warning "$page" | grep -v 'missing date'
        MANROFFSEQ='' LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" >/dev/null
    } >errors 2>&1
    check "$page: no warnings" test ! -s errors
done
diff <(ls croft*.1) <(ls "$build/share/man/man1") >errors
check "make man has all pages" test ! -s errors

# The keys of a machine are those that `croft show` prints; names of parts that it lacks are offered, too.
keys() {
    sed 's/ *#.*//; /^ *$/d; /^ *- /d' | awk '{
        depth = match($0, /[^ ]/) / 2 + 0.5
        name = $1
        sub(/:$/, "", name)
        path[depth] = name
        if (NF < 2) next
        whole = ""
        for (i = 1; i <= depth; i++) if (path[i] !~ /^[0-9]+$/) whole = whole (whole == "" ? "" : ".") path[i]
        if (path[depth] != "kind") print whole
    }' | sort -u
}
for machine in functional nucd nupim tom stash_apps; do
    "$croft" show "$machine" | keys >shown
    words run -m "$machine" --set '' | sed 's/=$//' | sort -u >offered
    comm -23 shown offered >errors
    check "$machine: completion offers all keys" test ! -s errors
done
mapfile -t values < <(for key in $(words show nucd --set host.); do "$croft" complete show nucd --set "$key"; done |
    sed -nE 's/\tas it is$//p' | sed 's/^/--set\n/')
"$croft" show nucd "${values[@]}" 2>errors | sed 's/ *#.*//' >shown
check "values that completion offers are those of the machine" test "${#values[@]}" -gt 100 -a ! -s errors
"$croft" show nucd | sed 's/ *#.*//' | diff - shown >errors
check "values that completion offers change nothing" test ! -s errors
"$croft" net --show "$here/examples/net/torus.yaml" | keys >shown
words net "$here/examples/net/torus.yaml" --set '' | sed 's/=$//' | sort -u >offered
comm -23 shown offered >errors
check "keys of a network" test ! -s errors

# Kinds that a message allows are those that completion offers.
for option in trace log check env detail; do
    "$croft" run -m nucd --$option nonsense x 2>&1 | sed -nE 's/.*(allowed|known)[^:]*: ([a-z, ]*).*/\2/p' | sed 's/ optionally.*//' | tr -d ' ' | tr ',' '\n' |
        sed '/^$/d' | sort >shown
    words run --$option '' | sort | diff shown - >errors
    check "--$option: what messages allow is what completion offers" test ! -s errors -a -s shown
done
check "machines" test "$(words run -m '' | grep -v '^<' | xargs)" = "$("$croft" machines | cut -d ' ' -f 1 | xargs)"
check "values of --option=" test "$(words run --env=k)" = --env=kernel
check "nothing behind the program" test "$(words run hello --st)" = '<file>'
check "an unknown command" test -z "$(words unknown --)"

# types SHELL KEYS TEXT: TEXT is in what the shell prints.
types() {
    local script=$here/emu/cmd/help/croft.bash
    if [ "$1" = zsh ]; then script=$here/emu/cmd/help/_croft; fi
    timeout 60 "$here/tests/cmd/shell.zsh" "$build/bin" "$script" "$1" "$2" >errors 2>&1
    check "$1: $2" grep -qF -- "$3" errors
}
: >program.elf
mkdir folder
for shell in bash zsh; do
    types $shell $'croft vers\t | head -n 1' "croft $("$croft" version | sed -n '1s/croft //p')"
    types $shell $'croft show nucd --set nucd.mode=id\t | grep mode:' 'mode: ideal'
    types $shell $'croft show fun\t --set memory.si\t3GiB | grep "size: 3"' 'size: 3 GiB'
    types $shell $'croft disasm prog\t' 'program.elf'
    types $shell $'croft run --trace perf\t:x -m functional x' "machine 'functional' has no clock"
    types $shell $'croft run --log=ins\t program.elf' 'program.elf'
done
conclude
