// What a reader can do with a fragment: filters, keys, and links that open what they lead to. It keeps working when the fragment is
// replaced: refresh applies what has been chosen to the new one.
var view = (function () {
  "use strict";

  function all(selector, around) { return Array.from((around || document).querySelectorAll(selector)); }
  function pressed(button) { return button.getAttribute("aria-pressed") === "true"; }
  function toggle(button) { button.setAttribute("aria-pressed", String(!pressed(button))); }
  function wordsOf(tools) { return tools.querySelector("input").value.toLowerCase().split(/\s+/).filter(Boolean); }
  function say(tools, text) {
    var count = tools.querySelector(".count");
    if (count.textContent !== text) count.textContent = text;
  }

  // filterNodes shows the nodes that a section's tools choose, and the nodes around them.
  function filterNodes(tools) {
    var nodes = all("details.node", tools.parentElement), words = wordsOf(tools), shown = new Set();
    var chosen = all("[data-state]", tools).filter(pressed).map(function (b) { return b.dataset.state; });
    nodes.forEach(function (n) {
      var name = n.dataset.name.toLowerCase();
      var fits = words.every(function (w) { return name.includes(w); });
      if (fits ? chosen.length === 0 || chosen.includes(n.dataset.state) : false) {
        for (var e = n; e; e = e.parentElement.closest("details.node")) shown.add(e);
      }
    });
    nodes.forEach(function (n) { n.hidden = !shown.has(n); });
    say(tools, shown.size === nodes.length ? "" : shown.size + " of " + nodes.length + " nodes shown");
  }

  // filterItems shows the rows of a batch that its tools choose.
  function filterItems(tools) {
    var rows = all("tbody tr", tools.nextElementSibling), words = wordsOf(tools), shown = 0;
    var only = all("[data-only]", tools).filter(pressed).map(function (b) { return b.dataset.only; });
    rows.forEach(function (r) {
      var text = r.textContent.toLowerCase();
      var fits = words.every(function (w) { return text.includes(w); });
      var kinds = [r.classList.contains("is-failed") ? "failed" : "", r.dataset.slow ? "slow" : ""];
      if (only.length > 0 ? !only.some(function (kind) { return kinds.includes(kind); }) : false) fits = false;
      r.hidden = !fits;
      if (fits) shown++;
    });
    say(tools, shown === rows.length ? "" : shown + " of " + rows.length + " items shown");
  }

  function filter(tools) { (tools.querySelector("[data-open]") ? filterNodes : filterItems)(tools); }

  function chosen(tools) {
    return tools.querySelector("input").value !== "" || all("[aria-pressed=true]:not(.keys)", tools).length > 0;
  }

  function refresh() {
    all(".tools").forEach(function (tools) {
      tools.hidden = false;
      if (chosen(tools)) filter(tools);
    });
  }

  function visible(e) { return e.checkVisibility === undefined || e.checkVisibility(); }

  function step(by) {
    var nodes = all("details.node").filter(function (n) { return !n.hidden ? visible(n) : false; });
    var at = nodes.findIndex(function (n) { return n.firstElementChild === document.activeElement; });
    if (at === -1) {
      var top = nodes.findIndex(function (n) { return n.getBoundingClientRect().top >= 0; });
      at = by === 1 ? (top === -1 ? nodes.length : top) - 1 : top === -1 ? nodes.length : top;
    }
    var to = nodes[Math.max(0, Math.min(nodes.length - 1, at + by))];
    if (to) {
      to.firstElementChild.focus();
      to.scrollIntoView({ block: "nearest" });
    }
  }

  // reveal opens the element with an id, and what is around it.
  function reveal(id) {
    var to = document.getElementById(id);
    for (var e = to ? to.closest("details") : null; e; e = e.parentElement.closest("details")) {
      e.hidden = false;
      e.open = true;
    }
    if (to) to.scrollIntoView();
  }

  document.addEventListener("input", function (e) {
    var tools = e.target.closest(".tools");
    if (tools) filter(tools);
  });

  document.addEventListener("click", function (e) {
    var button = e.target.closest(".tools button");
    if (!button) return;
    var tools = button.closest(".tools");
    if (button.dataset.open) {
      all("details.node", tools.parentElement).forEach(function (n) { n.open = button.dataset.open === "all"; });
      return;
    }
    toggle(button);
    if (!button.classList.contains("keys")) filter(tools);
  });

  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape" ? e.target.closest(".tools input") : false) {
      e.target.value = "";
      filter(e.target.closest(".tools"));
      e.target.blur();
      return;
    }
    var keys = document.querySelector(".tools .keys"), field = document.querySelector("[data-key='/']");
    if (!keys || e.ctrlKey || e.metaKey || e.altKey || !pressed(keys) || e.target.closest("input, textarea, select")) return;
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

  window.addEventListener("hashchange", function () { reveal(location.hash.slice(1)); });
  refresh();
  if (location.hash) reveal(location.hash.slice(1));
  return { refresh: refresh, reveal: reveal };
})();
