#!/bin/bash
# Figures 5 and 6 of the Stash paper and what differs: figures.sh CROFT DIR [FIGURE...]. FIGURE is micro, apps or causes; without one, all
# of them. DIR gets a folder of results for each, in which finished runs are kept. Prints its tables.txt in short.
set -euo pipefail

croft=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd -P) # programs have the names of their sources
mkdir -p "$2"
results=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- micro apps causes
for figure in "$@"; do
    if ! "$croft" experiment "$here/$figure.yaml" --yes --out "$results/$figure" >/dev/null 2>"$results/$figure.log"; then
        tail -n 5 "$results/$figure.log" >&2
        exit 1
    fi
    which=4 # Stash
    [ "$figure" != apps ] || which=6 # StashG
    awk -v which=$which -f "$here/short.awk" "$results/$figure/tables.txt"
done
