# Prints an experiment's tables in short: of the columns *_over_* one configuration, which is number `which` behind the names, of the
# columns *_share the mean over programs. Columns are 16 wide behind the first 14.
function over(column,    i, value) {
    for (i = 2; i <= NF; i++) {
        value = substr($i, 15 + 16 * which, 16)
        gsub(/ /, "", value)
        sub(/\(/, " (", value)
        if (i == 2) {
            configuration = value
            value = column
        }
        row[i] = row[i] sprintf("%20s", value)
        name[i] = substr($i, 1, 14)
    }
    rows = NF
}
function share(column,    i, mean) {
    if (shares == "") {
        shares = "Parts of energy, and of requests\nmean          " substr($2, 15) "\n"
    }
    sub(/_share$/, "", column)
    mean = $NF
    for (i = 2; i <= NF; i++) if ($i ~ /^mean /) mean = $i
    shares = shares sprintf("%-14s%s\n", column, substr(mean, 15))
}
BEGIN {
    RS = ""
    FS = "\n"
}
{
    column = $1
    sub(/.*: /, "", column)
    if (column ~ /_over_/) over(column)
    else if (column ~ /_share$/) share(column)
    else {
        for (i = 1; i <= NF; i++) if (column != "time" || $i !~ / (words|gpu) /) print $i
        print ""
    }
}
END {
    if (rows) {
        print configuration " over others"
        for (i = 2; i <= rows; i++) print name[i] row[i]
        print ""
    }
    printf "%s", shares
}
