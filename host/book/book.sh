#!/bin/bash
# Writes all pages as one HTML file: book.sh PAGE... >BOOK. PAGEs are paths in the repository, README.md first. In the book, a
# page is a section whose id is its path, a heading has the id PATH/ANCHOR with GitHub's anchor; links between pages
# lead to these, other links to files beside the book, which has its place in share/doc/croft.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=host/book

# chapter PAGE: the page as HTML.
chapter() {
    sed 's|build/bin/croft|croft|g' "$1" | cmark-gfm -e table -e autolink --unsafe | awk -v page="$1" -v pages=" ${pages[*]} " '
        function plain(html) {
            gsub(/<[^>]*>/, "", html)
            gsub(/&lt;/, "<", html)
            gsub(/&gt;/, ">", html)
            gsub(/&quot;/, "\"", html)
            gsub(/&amp;/, "\\&", html)
            return html
        }
        function anchor(html,    name) {
            name = tolower(plain(html))
            gsub(/[^a-z0-9 _-]/, "", name)
            gsub(/ /, "-", name)
            return seen[name]++ ? name "-" seen[name] - 1 : name
        }
        # The path of a link from this page, from the top of the repository.
        function place(link,    parts, count, i, path, height) {
            path = page
            if (!sub(/\/[^\/]*$/, "/", path)) path = ""
            count = split(path link, parts, "/")
            height = 0
            for (i = 1; i <= count; i++) {
                if (parts[i] == "..") height--
                else if (parts[i] != "." && parts[i] != "") parts[++height] = parts[i]
            }
            path = ""
            for (i = 1; i <= height; i++) path = path (i > 1 ? "/" : "") parts[i]
            return path
        }
        function target(link,    hash, name) {
            if (link ~ /^[a-z]+:/) return link
            hash = index(link, "#")
            name = hash ? substr(link, hash + 1) : ""
            link = hash ? substr(link, 1, hash - 1) : link
            link = link == "" ? page : place(link)
            if (index(pages, " " link " ")) return "#" link (name == "" ? "" : "/" name)
            return link (name == "" ? "" : "#" name)
        }
        function links(line,    done) {
            done = ""
            while (match(line, /(href|src)="[^"]*"/)) {
                at = index(substr(line, RSTART), "\"") + RSTART
                done = done substr(line, 1, at - 1) target(substr(line, at, RSTART + RLENGTH - 1 - at)) "\""
                line = substr(line, RSTART + RLENGTH)
            }
            return done line
        }
        BEGIN { printf "<section id=\"%s\">\n", page }
        /^<h[1-6]>/ {
            level = substr($0, 3, 1)
            text = $0
            gsub(/^<h[1-6]>|<\/h[1-6]>$/, "", text)
            printf "<h%d id=\"%s/%s\">%s</h%d>\n", level, page, anchor(text), links(text), level
            next
        }
        { print links($0) }
        END { print "</section>" }'
}

pages=("$@")
cat <<END
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Undercroft</title>
<style>
$(cat $here/book.css)
</style>
</head>
<body>
<nav>
<p><input type="search" id="search" placeholder="Search all pages" aria-label="Search all pages"> <button id="theme" type="button">light or dark</button></p>
<ul id="contents">
END
for page in "${pages[@]}"; do
    title=$(sed -n 's/^# //p' "$page" | head -n 1 | sed 's/`//g; s/&/\&amp;/g; s/</\&lt;/g')
    printf '<li><a href="#%s">%s</a></li>\n' "$page" "$title"
done
cat <<END
</ul>
</nav>
<main>
<section id="found" hidden></section>
END
for page in "${pages[@]}"; do chapter "$page"; done
cat <<END
</main>
<script>
$(cat $here/book.js)
</script>
</body>
</html>
END
