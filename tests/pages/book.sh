#!/bin/bash
# The book of all pages: book.sh BUILD. All its links and pictures lead somewhere, ids are unique, it has every page's headings;
# in a browser, one page is shown, the search finds, light and dark differ. Prints "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=tests/lib.sh
source tests/lib.sh
# shellcheck source=tests/cmd/browser.sh
source tests/cmd/browser.sh
build=$(realpath "$1")
doc=$build/share/doc/croft
book=$doc/book.html
scratch

evidence() {
    head -n 20 "$work/errors"
}

sed '/<script>/,/<\/script>/d' "$book" >"$work/text"
grep -oE '<[a-z0-9]+ id="[^"]*"' "$work/text" | sed 's/.*id="//; s/"$//' | sort >"$work/ids"
uniq -d "$work/ids" >"$work/errors"
check "ids are unique" test ! -s "$work/errors"
grep -oE '(href|src)="[^"]*"' "$work/text" | sed 's/^[a-z]*="//; s/"$//' | sort -u >"$work/links"
check "links between pages" test "$(grep -c '^#.*/' "$work/links")" -gt 30
grep '^#' "$work/links" | cut -c2- | sort -u | comm -23 - "$work/ids" >"$work/errors"
check "links to pages and headings" test ! -s "$work/errors"
grep -v '^#\|^https\?:\|^mailto:' "$work/links" | cut -d '#' -f 1 | while read -r file; do
    if [ ! -e "$doc/$file" ]; then echo "$file"; fi
done >"$work/errors"
check "links to files" test ! -s "$work/errors"
git ls-files '*.md' | while read -r page; do if ! grep -qxF "$page" "$work/ids"; then echo "$page"; fi; done >"$work/errors"
check "all pages" test ! -s "$work/errors"

# The pages as their readers see them in the repository: headings outside of code.
git ls-files '*.md' | while read -r page; do awk '/^```/ { code = !code } !code' "$page" | grep -E '^#+ '; done | wc -l >"$work/errors"
check "all headings" test "$(grep -cE '^<h[1-6] id=' "$work/text")" = "$(cat "$work/errors")"

browser_start "$work/chrome" || {
    fail "the browser starts" "$(tail -n 5 "$work/chrome/log")"
    conclude
    exit
}
trap 'browser_stop; rm -rf "$work"' EXIT
visit "$book"
check "the first page alone is shown" holds '[...document.querySelectorAll("main > section")].filter(page => !page.hidden).map(page => page.id).join() === "README.md"'
look 'location.hash = "#isa/MANUAL.md"; new Promise(done => setTimeout(done, 50))' >/dev/null
check "a link shows its page" holds '!document.getElementById("isa/MANUAL.md").hidden && document.getElementById("README.md").hidden'
look 'search.value = "stale load coherence"; search.dispatchEvent(new Event("input"))' >/dev/null
check "the search finds" holds '!found.hidden && [...found.querySelectorAll("a")].some(link => link.hash.startsWith("#README.md/")) && found.querySelectorAll("mark").length > 0'
look 'search.value = "qwertyuiop"; search.dispatchEvent(new Event("input"))' >/dev/null
check "the search finds nothing" holds 'found.querySelectorAll("a").length === 0 && !found.hidden'
look 'search.value = ""; search.dispatchEvent(new Event("input"))' >/dev/null
check "an empty search shows the page" holds 'found.hidden && !document.getElementById("isa/MANUAL.md").hidden'
back='getComputedStyle(document.body).backgroundColor'
media screen light
check "light" holds "$back === 'rgb(255, 255, 255)'"
media screen dark
check "dark" holds "$back === 'rgb(21, 24, 28)'"
look 'theme.click()' >/dev/null
check "the button" holds "$back === 'rgb(255, 255, 255)'"
check "nothing is wider than the window" holds 'document.documentElement.scrollWidth <= innerWidth'
look 'location.hash = "#README.md"; new Promise(done => setTimeout(done, 50))' >/dev/null
check "pictures" holds '[...document.querySelectorAll("#README\\.md img")].length > 0 && [...document.querySelectorAll("#README\\.md img")].every(image => image.complete && image.naturalWidth > 0)'
if [ -n "${SHOTS:-}" ]; then
    shot "$SHOTS/light.png"
    look 'theme.click(); search.value = "virtual channel"; search.dispatchEvent(new Event("input"))' >/dev/null
    shot "$SHOTS/dark_search.png"
    look 'search.value = ""; location.hash = "#emu/net/README.md"; new Promise(done => setTimeout(done, 50))' >/dev/null
    shot "$SHOTS/dark.png"
fi
conclude
