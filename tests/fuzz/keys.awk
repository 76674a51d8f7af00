# The keys of a machine with the values at their limits: croft show MACHINE | awk -f keys.awk. A line for each key: its dotted name,
# then the values, separated by tabs: the least and the greatest of a range, or each of a list of words. Texts have none.
function values(text,    part, count, i, list, range) {
    sub(/^.*Allowed: /, "", text)
    sub(/[.;].*$/, "", text)
    if (text ~ /^(one|part|a part|up to)/) return ""
    if (match(text, / to /)) {
        sub(/, .*$/, "", text)
        split(text, range, / to /)
        gsub(/ /, "", range[1])
        gsub(/ /, "", range[2])
        return "\t" range[1] "\t" range[2]
    }
    count = split(text, part, /, | or /)
    for (i = 1; i <= count; i++)
        if (part[i] ~ /^[a-z0-9_]+$/) list = list "\t" part[i]
    return list
}
/^ *#/ {
    if (/Allowed: /) allowed = values($0)
    next
}
match($0, /^ *[a-z][a-z0-9_]*:/) {
    level = match($0, /[^ ]/) - 1
    name = $1
    sub(/:.*/, "", name)
    while (depth > 0 && indent[depth] >= level) depth--
    indent[++depth] = level
    names[depth] = name
    if (allowed != "") {
        path = names[1]
        for (i = 2; i <= depth; i++) path = path "." names[i]
        print path allowed
    }
    allowed = ""
}
