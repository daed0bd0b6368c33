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

// A graph that is wider than the window keeps its place when its panel is drawn again.
const places = { left: 0 };
document.addEventListener("htmx:beforeSwap", (event) => {
  places.left = event.target.querySelector?.(".graph")?.scrollLeft ?? 0;
});
document.addEventListener("htmx:afterSettle", () => {
  const graph = document.querySelector("#live .graph");
  if (graph && places.left) graph.scrollLeft = places.left;
});
