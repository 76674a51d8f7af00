# Figure 5 of the NUPIM paper: the stalls of each link between modules, as a picture (SVG) of machine nupim or one of its variants.
#
#   croft run -m nupim --detail roi --stats bfs.json bfs 32768
#   awk -f examples/nupim/heatmap.awk -v title=BFS bfs.json >bfs.svg
#
# A link has an arrow for each direction. Its number is the clocks in which flits waited for a channel or a credit, summed over
# flits, divided by the mean of one connection of S0 to a stack of its own package (two ports). region=NAME: of that region;
# without it, of the first one.

BEGIN {
    # wires: module, port, the module that it leads to
    split("0 0 1  0 1 2  0 2 3  1 0 0  1 1 4  2 0 0  2 1 5  2 2 6  3 0 0  3 1 7  3 2 8  4 0 1  5 0 2  6 0 2  7 0 3  8 0 3", wires, /  */)
    split("430 60 150 170 430 170 710 170 150 290 330 290 530 290 610 290 810 290", places, " ")
}
/"regions": \{/ { regions = 1; next }
regions && /^    "[^"]*": \{/ { split($0, parts, "\""); inside = !found && (region == "" || parts[2] == region); found = found || inside; next }
/^  "/ { regions = inside = 0 }
inside && /"net\.router\.[0-9]+\.port\.[0-9]+\.out\.(credit_stalls|vc_stalls)"/ {
    split($1, name, "[.\"]")
    gsub(/[^0-9]/, "", $2)
    stalls[name[4], name[6]] += $2
}
function colour(share) {
    share = share > 1 ? 1 : share
    return sprintf("rgb(%d,%d,%d)", 235 - 35 * share, 225 - 205 * share, 205 - 175 * share)
}
END {
    if (!found) {
        print "heatmap.awk: the file has no region" (region == "" ? "" : " " region) "; statistics of croft run --stats are needed" >"/dev/stderr"
        exit 1
    }
    for (port = 20; port < 36; port++)
        mean += stalls[0, port] / 8
    if (mean == 0) {
        print "heatmap.awk: connections in the package have no stalls; the machine must be nupim or one of its variants" >"/dev/stderr"
        exit 1
    }
    for (i = 1; i <= 48; i += 3) {
        value[i] = stalls[wires[i], wires[i + 1]] / mean
        most = value[i] > most ? value[i] : most
    }
    print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 350\" font-family=\"sans-serif\" font-size=\"13\">"
    print "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"3\" markerHeight=\"3\" orient=\"auto\">" \
        "<path d=\"M0 0L8 4L0 8z\" fill=\"context-stroke\"/></marker></defs>"
    printf "<text x=\"20\" y=\"24\" font-size=\"16\">%s</text>\n", title
    print "<text x=\"20\" y=\"44\">Stalls, relative to one in-package connection</text>"
    for (i = 1; i <= 48; i += 3) {
        a = wires[i]; b = wires[i + 2]
        x = places[2 * a + 1]; y = places[2 * a + 2]
        dx = places[2 * b + 1] - x; dy = places[2 * b + 2] - y
        length_of = sqrt(dx * dx + dy * dy)
        dx /= length_of; dy /= length_of
        sx = -dy * 7; sy = dx * 7 # to the right-hand side of the direction
        printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"6\" marker-end=\"url(#tip)\"/>\n", x + 24 * dx + sx,
            y + 24 * dy + sy, x + (length_of - 26) * dx + sx, y + (length_of - 26) * dy + sy, colour(most ? value[i] / most : 0)
        printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"><title>M%d to M%d</title>%s</text>\n", x + length_of / 2 * dx + 3.2 * sx,
            y + length_of / 2 * dy + 3.2 * sy + 4, a, b, sprintf(value[i] < 100 ? "%.2g" : "%.0f", value[i])
        printf "M%d to M%d %.3f\n", a, b, value[i] >"/dev/stderr"
    }
    for (m = 0; m < 9; m++)
        printf "<circle cx=\"%d\" cy=\"%d\" r=\"20\" fill=\"#fff\" stroke=\"#333\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">M%d</text>\n",
            places[2 * m + 1], places[2 * m + 2], places[2 * m + 1], places[2 * m + 2] + 5, m
    print "</svg>"
}
