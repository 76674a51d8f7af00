#!/bin/bash
# Prints the papers' claims in short: summary.txt with values in place of {{PAPER/NAME COLUMN POINT...}}, which are those of the first row
# with these points in PAPER/results/NAME.csv; {{+...}} is the change from 1 in percent, {{%...}} the value in percent.
# {{=PAPER ...}} and {{<PAPER ...}}, before these signs, add whether a cause is confirmed: whether the value is within 0.1 of the paper's, or below it.
set -euo pipefail
cd "$(dirname "$0")"

awk '
    # Reads a file of results once.
    function load(name,   path, line, field, count, i) {
        if (name in rows) return
        path = name; sub("/", "/results/", path); path = path ".csv"; rows[name] = 0
        while ((getline line < path) > 0) {
            count = split(line, field, ",")
            for (i = 1; i <= count; i++)
                if (rows[name]) cell[name, rows[name], i] = field[i]
                else if (!((name, field[i]) in column)) column[name, field[i]] = i
            rows[name]++
        }
        close(path)
    }
    # Whether a run without a cause comes near the paper.
    function verdict(sign, paper, ours) {
        if (sign == "") return ""
        return (sign == "<" ? ours < paper : ours - paper <= 0.1 && paper - ours <= 0.1) ? ", confirmed" : ", not near"
    }
    function value(text,   word, count, form, name, at, row, i, k, found, sign, paper) {
        sign = substr(text, 1, 1); if (sign !~ /[=<]/) sign = ""
        if (sign != "") { paper = substr(text, 2) + 0; sub(/^[^ ]* /, "", text) }
        form = substr(text, 1, 1); if (form ~ /[+%]/) text = substr(text, 2); else form = ""
        count = split(text, word, " "); name = word[1]; load(name)
        if (!((name, word[2]) in column)) { print "summary.txt: no " word[2] " in " name > "/dev/stderr"; exit 1 }
        at = column[name, word[2]]
        for (row = 1; row < rows[name]; row++) {
            found = 0
            for (i = 3; i <= count; i++)
                for (k = 1; k < at && k < 6; k++) if (cell[name, row, k] == word[i]) { found++; break }
            if (found == count - 2 && cell[name, row, at] != "") {
                found = cell[name, row, at]
                return (form == "+" ? sprintf("%+.1f %%", 100 * (found - 1)) : form == "%" ? sprintf("%.0f %%", 100 * found) : sprintf("%.2f", found)) verdict(sign, paper, found)
            }
        }
        print "summary.txt: no such row: " text > "/dev/stderr"; exit 1
    }
    {
        while ((i = index($0, "{{")) > 0) {
            rest = substr($0, i + 2); k = index(rest, "}}")
            $0 = substr($0, 1, i - 1) value(substr(rest, 1, k - 1)) substr(rest, k + 2)
        }
        print
    }' summary.txt
