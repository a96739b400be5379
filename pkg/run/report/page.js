(function () {
  "use strict";
  var tools = document.getElementById("tools");
  if (!tools) return;
  var nodes = Array.from(document.querySelectorAll("details.node"));
  var field = document.getElementById("filter");
  var count = document.getElementById("count");
  var keys = document.getElementById("keys");
  var buttons = Array.from(tools.querySelectorAll("button[data-state]"));
  tools.hidden = false;

  function pressed(button) { return button.getAttribute("aria-pressed") === "true"; }

  function filter() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var chosen = buttons.filter(pressed).map(function (b) { return b.dataset.state; });
    var shown = new Set();
    nodes.forEach(function (n) {
      var name = n.dataset.name.toLowerCase();
      var fits = words.every(function (w) { return name.includes(w); });
      if (fits ? chosen.length === 0 || chosen.includes(n.dataset.state) : false) {
        for (var e = n; e; e = e.parentElement.closest("details.node")) shown.add(e);
      }
    });
    nodes.forEach(function (n) { n.hidden = !shown.has(n); });
    count.textContent = shown.size === nodes.length ? "" : shown.size + " of " + nodes.length + " nodes shown";
  }

  function setAll(open) {
    nodes.forEach(function (n) { n.open = open; });
  }

  function step(by) {
    var all = nodes.filter(function (n) { return !n.hidden ? n.checkVisibility === undefined || n.checkVisibility() : false; });
    var at = all.findIndex(function (n) { return n.firstElementChild === document.activeElement; });
    if (at === -1) {
      var top = all.findIndex(function (n) { return n.getBoundingClientRect().top >= 0; });
      at = by === 1 ? (top === -1 ? all.length : top) - 1 : top === -1 ? all.length : top;
    }
    var to = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (to) {
      to.firstElementChild.focus();
      to.scrollIntoView({ block: "nearest" });
    }
  }

  field.addEventListener("input", filter);
  buttons.forEach(function (b) {
    b.addEventListener("click", function () {
      b.setAttribute("aria-pressed", String(!pressed(b)));
      filter();
    });
  });
  keys.addEventListener("click", function () { keys.setAttribute("aria-pressed", String(!pressed(keys))); });
  document.getElementById("open-all").addEventListener("click", function () { setAll(true); });
  document.getElementById("close-all").addEventListener("click", function () { setAll(false); });

  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape" ? e.target === field : false) {
      field.value = "";
      filter();
      field.blur();
      return;
    }
    if (e.ctrlKey || e.metaKey || e.altKey || !pressed(keys) || e.target.closest("input, textarea, select")) return;
    if (e.key === "j" || e.key === "k") {
      step(e.key === "j" ? 1 : -1);
    } else if (e.key === "/") {
      field.focus();
      field.select();
    } else {
      return;
    }
    e.preventDefault();
  });

  // A link to a node opens the node and the nodes around it.
  function reveal() {
    var to = document.getElementById(location.hash.slice(1));
    for (var e = to ? to.closest("details") : null; e; e = e.parentElement.closest("details")) {
      e.hidden = false;
      e.open = true;
    }
    if (to) to.scrollIntoView();
  }
  window.addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
