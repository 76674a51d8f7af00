#!/bin/bash
# linked.sh PAGE...: prints the files of the repository to which links of the pages lead, but those below isa/include, which are
# installed elsewhere.
set -euo pipefail
cd "$(dirname "$0")/.."
for page; do
    # shellcheck disable=SC2016 # fences of code
    sed '/^```/,/^```/d; /^    /d' "$page" | { grep -oE '\]\([^)#]+' || true; } | cut -c3- | while read -r link; do
        case $link in
        *://* | mailto:*) ;;
        *) realpath -s --relative-to=. "$(dirname "$page")/$link" ;;
        esac
    done
done | sort -u | while read -r file; do
    if [ -f "$file" ] && [[ $file != isa/include/* ]]; then echo "$file"; fi
done
