#!/bin/bash
# How long a page of croft report takes to open: report.sh CROFT DIR. A page of ROWS=100000 rows in a browser without a window, from the
# start of loading: until its script has ended, and until the table and the figures in the window are painted. CPU time is that of
# the page's main thread. Prints the least of ROUNDS=3.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/cmd/browser.sh
source "$here/../cmd/browser.sh"

croft=$(realpath "$1") dir=$2 rows=${ROWS:-100000}
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
awk -v rows="$rows" -f "$here/../cmd/rows.awk" >rows.json
"$croft" report rows.json -o rows.html
for ((round = 0; round < ${ROUNDS:-3}; round++)); do
    browser_start "$PWD/browser$round" # a new one, which has compiled nothing yet
    browser_call Performance.enable '{"timeDomain": "threadTicks"}'
    visit rows.html
    painted=$(look 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(performance.now())))))')
    ready=$(look 'Number(document.body.dataset.ready)')
    browser_call Performance.getMetrics
    # shellcheck disable=SC2154 # browser_call sets reply
    cpu=$(jq '[.result.metrics[] | select(.name == "TaskDuration").value * 1000][0]' <<<"$reply")
    printf '%.0f %.0f %.0f\n' "$ready" "$painted" "$cpu"
    browser_stop
done | awk -v rows="$rows" -v bytes="$(stat -c %s rows.html)" 'NR == 1 { a = $1; b = $2; c = $3 }
    { a = $1 < a ? $1 : a; b = $2 < b ? $2 : b; c = $3 < c ? $3 : c }
    END { printf "%d rows, %.2f MB: ready after %d ms, painted after %d ms; %d ms of CPU time\n", rows, bytes / 1e6, a, b, c }'
