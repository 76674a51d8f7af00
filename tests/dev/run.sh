#!/bin/bash
# Runs the device tests given as arguments, from the repository's root. The last line is `N passed, N failed`.
set -euo pipefail

passed=0
failed=0
for test in "$@"; do
    report=$(CMOCKA_MESSAGE_OUTPUT=TAP "$test" 2>&1) || true
    good=$(grep -c '^ok ' <<<"$report" || true)
    bad=$(grep -c '^not ok ' <<<"$report" || true)
    # A test that dies, or a sanitizer that complains at the end, has no `not ok` line of its own.
    planned=$(sed -n 's/^1\.\.//p' <<<"$report")
    if [ "$good" != "${planned:-none}" ] || grep -q 'ERROR: .*Sanitizer\|runtime error:' <<<"$report"; then
        printf '%s\n%s\n' "$test:" "$report"
        [ "$bad" -gt 0 ] || bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
