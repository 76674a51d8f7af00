#!/bin/bash
# Prints the table of emu/env/linux/README.md, made of the rows of calls.def: linux_table.sh CALLS.DEF
set -euo pipefail

echo '| number | call | state | what of it |'
echo '|---|---|---|---|'
sed -nE 's/^LINUX_CALL\(([0-9]+), ([a-z0-9_]+), ([a-z]+), [A-Z]+\(([^)]*)\), "(.*)"\)$/\1|\2|\3|\4|\5/p' "$1" |
    while IFS='|' read -r number name state value meaning; do
        if [ "$state" = refused ] && [[ $value == -E* ]]; then
            meaning="${value#-}${meaning:+: $meaning}"
        fi
        echo "| $number | \`$name\` | $state | $meaning |"
    done
