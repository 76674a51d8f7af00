#!/bin/bash
# What `make check` does for a change: the difference between the working tree and HEAD, or, with BASE, that commit.
#   check.sh choose BUILD [BASE]   prints what to run, a line each: "#" and a remark, or a name, a tab, what to build (or -), a tab, a command
#   check.sh style BUILD [BASE]    the layout of changed C files, arrows between rooms and circles between files
# Chosen are the unit tests of each room in which a file changed; those of the rooms whose files use a changed file directly, by its
# symbols or by #include, but for the long ones; the scripts of these rooms and the sample, which tests/check.txt lists. Where more than
# MOST_USERS rooms use a file, the sample stands for them.
set -euo pipefail
cd "$(dirname "$0")/.."
mode=${1:-}
build=${2:-build}
base=${3:-HEAD}
MOST_USERS=3

# Changed files that still exist, and those that git does not know yet.
changed() {
    { git diff --name-only --diff-filter=d "$base" -- && git ls-files --others --exclude-standard; } | sort -u
}

# rooms: for paths on standard input, the rooms of emu/ and tests/, or the top folder.
rooms() {
    sed -nE 's,^(emu|tests)/([a-z]+)/.*,\2,p; s,^(isa|host|firmware|linker)/.*,\1,p' | sort -u
}

# users FILE: the files of isa/ and emu/ that use it.
users() {
    case $1 in
    *.c)
        # shellcheck disable=SC2046 # names of objects
        (cd "$build/obj" && [ -e "${1%.c}.o" ] && nm -A -P $(find isa emu -name '*.o') 2>/dev/null) | awk -v own="${1%.c}.o:" '
            $1 == own && $3 ~ /^[TDBRCVW]$/ { home[$2] = 1 }
            $1 != own && $3 == "U" { asked[++count] = $2; file[count] = $1 }
            END { for (i = 1; i <= count; i++) if (asked[i] in home) { sub(/\.o:$/, ".c", file[i]); print file[i] } }' || true
        ;;
    *.h | *.def) grep -rlF "#include \"$1\"" --include='*.[ch]' isa emu || true ;;
    esac | sort -u
}

# of ROOM...: the unit tests of rooms, without tests/ and .c.
of() {
    local room
    for room; do
        if [ -d "tests/$room" ]; then find "tests/$room" -name 'test_*.c'; fi
    done | sed 's,^tests/,,; s,\.c$,,' | sort
}

# listed ROOM...: rows of tests/check.txt for one of the rooms, without the first column.
listed() {
    awk -v rooms=" $* " '
        /^(#|$)/ { next }
        {
            count = split($1, own, ",")
            for (i = 1; i <= count; i++)
                if (index(rooms, " " own[i] " ")) {
                    sub(/^[^ ]+ +/, "")
                    print
                    next
                }
        }' tests/check.txt
}

# unit_rows: of rows on standard input, the names of unit tests.
unit_rows() {
    awk '$1 == "unit" { for (i = 3; i <= NF; i++) print $i }'
}

choose() {
    local files own=() used=() near file test
    mapfile -t files < <(changed)
    if [ "${#files[@]}" -eq 0 ]; then echo "# nothing has changed since $base: the sample alone"; fi
    mapfile -t own < <(printf '%s\n' "${files[@]}" | rooms)
    for file in "${files[@]}"; do
        mapfile -t near < <(users "$file" | rooms | grep -vxF "$(printf '%s\n' "${own[@]}")" || true)
        if [ "${#near[@]}" -gt "$MOST_USERS" ]; then
            echo "# $file: used by ${#near[@]} other rooms (${near[*]}), for which the sample stands"
        else
            used+=("${near[@]}")
        fi
        case $file in *.md) echo "# $file: tests/pages/pages.sh $build $file" ;; esac
    done
    mapfile -t used < <(printf '%s\n' "${used[@]}" | sed '/^$/d' | sort -u)
    echo "# changed: ${own[*]:-no room}; rooms that use it: ${used[*]:-none}"
    {
        of "${own[@]}"
        of "${used[@]}" | grep -vxF "$(listed long | unit_rows)" || true
        listed '*' | unit_rows
    } | sort -u | while read -r test; do
        printf '%s\t%s\t%s\n' "$test" "$build/tests/$test" "$build/tests/$test"
    done
    listed '*' "${own[@]}" "${used[@]}" | awk '$1 != "unit" { name = $1; target = $2; sub(/^[^ ]+ +[^ ]+ +/, ""); print name "\t" target "\t" $0 }'
    printf 'layout-and-arrows\t-\ttests/check.sh style %s %s\n' "$build" "$base"
}

style() {
    local files bad=0
    mapfile -t files < <(changed | grep -E '^(emu|examples|firmware|host|isa|tests)/.*\.[ch]$' || true)
    if [ "${#files[@]}" -gt 0 ] && command -v clang-format >/dev/null; then clang-format --dry-run -Werror "${files[@]}" || bad=1; fi
    tests/layers.sh || bad=1
    tests/circles.sh "$build/obj" tests/circles.txt || bad=1
    echo "$((1 - bad)) passed, $bad failed"
    return $bad
}

# Names in tests/check.txt that no longer exist.
for test in $(unit_rows < <(listed '*' long)); do
    if [ ! -e "tests/$test.c" ]; then
        echo "tests/check.txt: there is no tests/$test.c" >&2
        exit 1
    fi
done
case $mode in
choose) choose ;;
style) style ;;
*)
    echo "usage: tests/check.sh choose|style BUILD [BASE]" >&2
    exit 2
    ;;
esac
