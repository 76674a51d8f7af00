# Shared functions of the benchmark scripts. Source this file with these variables set: `out` (a folder),
# `measure` (the program), `croft` (the command) and `rounds`; begin_runs() before measured().
# shellcheck shell=bash disable=SC2154

# shellcheck source=tests/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

check_rounds() {
    case $rounds in
    '' | *[!0-9]* | 0*)
        echo "bench: ROUNDS must be a number from 1, not '$rounds'" >&2
        exit 2
        ;;
    esac
}

# need COMMAND PACKAGE: ends the script if the command is not installed.
need() {
    if ! command -v "$1" >/dev/null; then
        echo "bench: $1 is missing: install Debian's package $2" >&2
        exit 1
    fi
}

fact() {
    printf '%-16s %s\n' "$1" "$2"
}

# Prints the total of retired instructions in croft's statistics.
instructions_of() {
    awk '/"total"/ { total = 1 } total && /"hart.0.instructions"/ { gsub(/[^0-9]/, "", $2); print $2; exit }' "$1"
}

# failure [MESSAGE]: counts a run that failed or differed.
failures=0
failure() {
    [ $# -eq 0 ] || echo "bench: $*" >&2
    failures=$((failures + 1))
}

# progress NAME ROUND: shows the current measurement on a terminal; without arguments, erases the line.
progress() {
    [ -t 2 ] || return 0
    if [ $# -gt 0 ]; then printf '\r%-40s' "$1, round $2" >&2; else printf '\r%-40s\r' '' >&2; fi
}

# Ends a script: the status is 0 if all runs succeeded.
conclude() {
    [ "$failures" -eq 0 ] && return
    echo "bench: $failures runs failed or differed" >&2
    return 1
}

# begin_runs FILE: sets `runs`, the file to which measured() adds, and makes it in `out`.
begin_runs() {
    mkdir -p "$out"
    runs=$out/$1
    echo "program,round,emulator,wall_s,user_s,system_s,peak_kib,instructions" >"$runs"
}

# measured PROGRAM-NAME ROUND EMULATOR COMMAND...: one measured run. The exit status must be 0 or $allowed.
measured() {
    local name=$1 round=$2 emulator=$3 line count=""
    shift 3
    line=$("$measure" "$out/$name.$emulator.out" "$@")
    read -r wall user system peak status <<<"$line"
    if [ "$status" -ne 0 ] && [ "$status" != "${allowed:-0}" ]; then
        echo "bench: $name ended with status $status on $emulator" >&2
        return 1
    fi
    local statistics=$out/$name.json
    [ "$emulator" != linux ] || statistics=$out/$name.linux.json
    if [ "$emulator" = croft ] || [ "$emulator" = linux ]; then
        count=$(instructions_of "$statistics")
        if [ -z "$count" ]; then
            echo "bench: no instruction count in $statistics" >&2
            return 1
        fi
    fi
    echo "$name,$round,$emulator,$wall,$user,$system,$peak,$count" >>"$runs"
}

# facts QEMU WHAT: prints the circumstances of the measurement; WHAT tells of what medians are taken.
facts() {
    fact processor "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1) ($(nproc) online)"
    fact compiler "$("${CC:-cc}" --version | head -n 1)"
    fact "cross compiler" "$(riscv64-unknown-elf-gcc --version | head -n 1)"
    fact croft "$("$croft" version | head -n 1)"
    fact qemu "$("$1" --version | head -n 1)"
    fact rounds "$rounds, in turn; medians of $2"
    echo
}
