#!/bin/bash
# Checks which files of the emulator are compiled with flags of their own: flags.sh MAKE TABLE. TABLE has a line for each:
# the file, a colon, its flags that ordinary files do not have, and, after a -, those that only ordinary files have. Without
# the test, a file that is moved could lose flags for its speed unnoticed. Prints "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build}

"$1" --no-print-directory -nB CC=gcc OPTIMIZE='-O2 -g' CFLAGS= SANITIZE= "$build/bin/croft" BUILD="$build" 2>/dev/null |
    awk '
        # Stores the flags of a command in flags[1..]; returns their number.
        function flags_of(command,    word, count, words, i) {
            words = split(command, word, " ")
            for (i = 2; i <= words; i++) {
                if (word[i] == "-c") break
                flag[++count] = word[i]
            }
            return count
        }
        / -c [^ ]*\.c -o / {
            match($0, / -c [^ ]*/)
            file = substr($0, RSTART + 4, RLENGTH - 4)
            count = flags_of($0)
            list = ""
            for (i = 1; i <= count; i++) list = list " " flag[i]
            of[file] = list
            order[++files] = file
        }
        END {
            ordinary = " " of["emu/sim/event.c"] " "
            for (i = 1; i <= files; i++) {
                file = order[i]
                own = ""
                count = split(of[file], word, " ")
                for (k = 1; k <= count; k++)
                    if (!index(ordinary, " " word[k] " ")) own = own " " word[k]
                count = split(ordinary, word, " ")
                for (k = 1; k <= count; k++)
                    if (!index(of[file] " ", " " word[k] " ")) own = own " -" word[k]
                if (own != "") print file ":" own
            }
        }' | sort | diff -u "$2" - || {
    echo "$2 (-) differs from what emu/emu.mk gives (+): name moved files there and in the table"
    echo "0 passed, 1 failed"
    exit 1
}
echo "1 passed, 0 failed"
