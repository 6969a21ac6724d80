// What the pages need beyond the theme: glossary words explained where they stand, and a cue on what scrolls.
"use strict";

// ---- words -----------------------------------------------------------------------------------------------
const note = document.createElement("div");
note.id = "word";
note.setAttribute("role", "tooltip");
note.hidden = true;

function explain(link) {
  const text = GLOSSARY[link.hash.slice(1)];
  if (!text) return;
  note.textContent = text;
  note.hidden = false;
  link.setAttribute("aria-describedby", note.id);
  const at = link.getBoundingClientRect();
  const left = Math.min(at.left, document.documentElement.clientWidth - note.offsetWidth - 12);
  const below = at.bottom + note.offsetHeight + 12 < window.innerHeight;
  note.style.left = `${Math.max(12, left)}px`;
  note.style.top = `${below ? at.bottom + 4 : at.top - note.offsetHeight - 4}px`;
}

function quiet() {
  note.hidden = true;
  document.querySelectorAll("a[aria-describedby=word]").forEach(a => a.removeAttribute("aria-describedby"));
}

function words() {
  document.body.append(note);
  for (const link of document.querySelectorAll("article a[href*='#term-']")) {
    link.classList.add("word");
    let touched = false;
    link.addEventListener("pointerdown", event => { touched = event.pointerType === "touch" && note.hidden; });
    link.addEventListener("mouseenter", () => explain(link));
    link.addEventListener("mouseleave", quiet);
    link.addEventListener("focus", () => explain(link));
    link.addEventListener("blur", quiet);
    link.addEventListener("click", event => {  // the first tap explains, the second follows the link
      if (touched) { event.preventDefault(); explain(link); }
    });
  }
  document.addEventListener("keydown", event => { if (event.key === "Escape") quiet(); });
  // The tab key scrolls to a word that is out of sight: its note goes along.
  document.addEventListener("scroll", () => {
    const link = document.activeElement;
    if (!note.hidden && link.matches("a.word")) explain(link); else quiet();
  }, {passive: true});
}

// ---- what scrolls ----------------------------------------------------------------------------------------
const WIDE = "article .pst-scrollable-table-container, article div.math, article div.picture, "
  + "article .highlight pre";

function cue(box) {
  const hidden = box.scrollWidth - box.clientWidth;
  box.classList.toggle("scrolls", hidden > 1);
  box.classList.toggle("more", hidden - box.scrollLeft > 1);
  if (hidden > 1) {
    const caption = box.querySelector("caption");
    const name = caption ? caption.innerText.trim() : box.dataset.name;
    for (const [key, value] of [["tabindex", "0"], ["role", "region"]]) box.setAttribute(key, value);
    box.setAttribute("aria-label", `${name} (scrolls sideways)`);
  } else {
    for (const key of ["tabindex", "role", "aria-label"]) box.removeAttribute(key);
  }
}

// A table that does not fit beside the list of contents, or has many columns of sentences, takes its place;
// before the theme looks for such.
function widen() {
  if (!window.matchMedia("(min-width: 1200px)").matches) return;
  for (const box of document.querySelectorAll("article .pst-scrollable-table-container")) {
    const wide = box.scrollWidth > box.clientWidth + 1 || box.querySelector("table.sentences th:nth-child(6)");
    if (wide && !box.closest("details, .admonition, .full-width")) box.classList.add("full-width");
  }
}

// A figure as wide as the text shrinks to a phone; a wider one scrolls in its frame before its text is too small.
const LEAST = 0.355;  // of the width it is drawn with: 10 points, drawn at 144 to the inch, become 7 pixels

function pictures() {
  for (const img of document.querySelectorAll("article figure img")) {
    const frame = document.createElement("div");
    frame.className = "picture";
    img.replaceWith(frame);
    frame.append(img);
    const keep = () => { img.style.minWidth = `${Math.floor(LEAST * img.naturalWidth)}px`; };
    if (img.complete) keep(); else img.addEventListener("load", keep);
  }
}

function scrolls() {
  const seen = new ResizeObserver(entries => entries.forEach(e => cue(e.target.closest(WIDE))));
  const count = {};  // a name of its own for each: formula 3
  for (const box of document.querySelectorAll(WIDE)) {
    const kind = box.matches(".math") ? "formula" : box.matches(".picture") ? "figure"
      : box.matches("pre") ? "code" : "table";
    count[kind] = (count[kind] ?? 0) + 1;
    box.dataset.name = `${kind} ${count[kind]}`;
    seen.observe(box);
    if (box.firstElementChild) seen.observe(box.firstElementChild);  // a formula is drawn later
    box.addEventListener("scroll", () => cue(box), {passive: true});
  }
}

// The label that the theme gives every fold says less than its own words; its arrows between pages have none.
function folds() {
  for (const line of document.querySelectorAll("details.hide > summary")) line.removeAttribute("aria-label");
  for (const arrow of document.querySelectorAll("nav li > details > summary")) {
    const page = arrow.closest("li").querySelector("a");
    arrow.setAttribute("aria-label", `pages of ${page ? page.innerText.trim() : "this part"}`);
  }
}

// The theme's folds of the list of pages have no name, its logo stands in no landmark, and the bibliography
// calls its entries by a role that is no more.
function names() {
  for (const line of document.querySelectorAll(".bd-sidebar summary")) {
    line.setAttribute("aria-label", `pages of ${line.closest("li").querySelector("a").innerText.trim()}`);
  }
  for (const side of document.querySelectorAll(".bd-sidebar-primary")) {
    side.setAttribute("role", "region");
    side.setAttribute("aria-label", "sidebar");
  }
  for (const box of document.querySelectorAll(".citation-list, .citation")) box.removeAttribute("role");
}

words();
widen();
pictures();
scrolls();
folds();
names();
