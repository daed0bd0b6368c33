// What a page gains with script; every page works without.
"use strict";

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.getElementById("search");
  if (search) {
    event.preventDefault();
    search.focus();
    search.select();
  }
});

// A choice in a filter takes effect at once.
document.addEventListener("change", (event) => {
  if (event.target.matches(".filters select")) event.target.form.requestSubmit();
});

// Arrow keys walk the nodes of a graph, in reading order.
document.addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
  const graph = event.target.closest?.(".graph");
  if (!step || !graph) return;
  const nodes = [...graph.querySelectorAll("a")];
  const next = nodes[nodes.indexOf(document.activeElement) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});

// A log shows its end, and stays there while lines arrive unless somebody scrolled up to read.
const logEnd = { follow: true };
const isAtEnd = (log) => log.scrollHeight - log.scrollTop - log.clientHeight < 24;
const showEnd = () => {
  const log = document.getElementById("log");
  if (log && logEnd.follow) log.scrollTop = log.scrollHeight;
};
document.addEventListener("DOMContentLoaded", () => {
  document.getElementById("log")?.addEventListener("scroll", (event) => {
    logEnd.follow = isAtEnd(event.target);
  });
  showEnd();
});
document.addEventListener("htmx:oobAfterSwap", showEnd);

// A graph that is wider than its window shows the node that the page is about, and keeps its place
// when its panel is drawn again.
const places = { left: null };
const showHere = (root) => {
  for (const graph of root.querySelectorAll(".graph")) {
    const here = graph.querySelector(".here")?.getBoundingClientRect();
    const window = graph.getBoundingClientRect();
    if (here && graph.scrollWidth > graph.clientWidth) {
      graph.scrollLeft += here.left - window.left - (window.width - here.width) / 2;
    }
  }
};
document.addEventListener("DOMContentLoaded", () => {
  showHere(document);
  // On a narrow screen the navigation is one line that scrolls.
  document.querySelector(".nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
});
document.addEventListener("htmx:beforeSwap", (event) => {
  places.left = event.target.querySelector?.(".graph")?.scrollLeft ?? null;
});
document.addEventListener("htmx:afterSettle", (event) => {
  const graph = document.querySelector("#live .graph");
  if (graph && places.left !== null) graph.scrollLeft = places.left;
  else if (!graph) showHere(event.target);
});
