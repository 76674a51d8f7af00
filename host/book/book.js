// Shows one page of the book at a time, finds text in all of them, and remembers light or dark. Without scripts, all pages
// stand below each other.
"use strict";
const pages = [...document.querySelectorAll("main > section:not(#found)")];
const found = document.getElementById("found"), search = document.getElementById("search");
const contents = document.getElementById("contents");

// The text below each heading, for the search.
const parts = pages.flatMap(page => {
  const list = [];
  for (const node of page.children) {
    if (/^H[1-6]$/.test(node.tagName)) list.push({ id: node.id, page: page.id, title: node.textContent, text: "" });
    else if (list.length) list[list.length - 1].text += " " + node.textContent;
  }
  return list;
});

function only(shown) {
  for (const page of [found, ...pages]) page.hidden = page !== shown;
}

// Goes to the page and heading that the address names: #PAGE or #PAGE/ANCHOR.
function go() {
  const id = decodeURIComponent(location.hash.slice(1)), target = document.getElementById(id);
  const page = (target && target.closest("main > section")) || pages[0];
  only(page);
  for (const link of contents.querySelectorAll("a")) {
    link.className = link.hash === "#" + page.id ? "here" : "";
    if (link.className && !link.parentNode.querySelector("ul")) list(link.parentNode, page);
  }
  for (const below of contents.querySelectorAll("li > ul")) below.hidden = !below.parentNode.querySelector("a.here");
  document.title = page.querySelector("h1").textContent + " - Undercroft";
  if (target && target !== page) target.scrollIntoView();
  else scrollTo(0, 0);
}

// Lists the sections of a page below its name.
function list(item, page) {
  const below = item.appendChild(document.createElement("ul"));
  for (const heading of page.querySelectorAll("h2")) {
    const link = below.appendChild(document.createElement("li")).appendChild(document.createElement("a"));
    link.href = "#" + heading.id;
    link.textContent = heading.textContent;
  }
}

// Appends text in which the words are marked.
function mark(node, text, words) {
  const pattern = new RegExp("(" + words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "i");
  text.split(pattern).forEach((piece, i) => {
    const part = i % 2 ? document.createElement("mark") : document.createElement("span");
    part.textContent = piece;
    node.append(part);
  });
}

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(word => word);
  if (!words.length) return go();
  const has = (text, word) => text.toLowerCase().includes(word);
  const hits = parts.filter(part => words.every(word => has(part.title + part.text, word)));
  const weight = part => words.filter(word => has(part.title, word)).length;
  hits.sort((a, b) => weight(b) - weight(a));
  found.replaceChildren();
  found.append(Object.assign(document.createElement("h1"), { textContent: hits.length ? `${hits.length} sections` : "no section has all words" }));
  for (const part of hits.slice(0, 100)) {
    const link = document.createElement("a"), where = document.createElement("p");
    const at = Math.max(0, Math.min(...words.map(word => part.text.toLowerCase().indexOf(word)).filter(i => i >= 0), 1e9) - 60);
    link.href = "#" + part.id;
    link.textContent = part.title;
    mark(where, `${part.page}: … ${part.text.slice(at === 1e9 - 60 ? 0 : at).slice(0, 240)} …`, words);
    found.append(link, where);
  }
  only(found);
}

search.addEventListener("input", find);
found.addEventListener("click", event => { if (event.target.closest("a") && event.target.closest("a").hash === location.hash) go(); });
addEventListener("hashchange", go);

// Light or dark: the system's choice, until the button is pressed.
const theme = document.getElementById("theme"), root = document.documentElement;
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
try { if (localStorage.croftTheme) root.dataset.theme = localStorage.croftTheme; } catch { /* no storage */ }
theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
  try { localStorage.croftTheme = root.dataset.theme; } catch { /* no storage */ }
});

go();
document.body.dataset.ready = "yes";
