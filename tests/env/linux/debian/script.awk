{ sum[$1 % 10] += $2; text = text substr($1, 1, 1) }
END {
    n = asorti(sum, keys)
    for (i = 1; i <= n; i++) print keys[i], sum[keys[i]]
    gsub(/1+/, "<&>", text)
    print text
    printf "%.6f %s\n", exp(1), strftime("%Y", 0, 1)
    while ((getline line < "lines") > 0) if (line ~ /99/) print toupper(line)
    print "written" > "written"
}
