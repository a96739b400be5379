// What the pages share that show a run while it goes on: fragments that change in place, and the answers to questions.
var live = (function () {
  "use strict";

  function key(e) { return e.nodeType === 1 ? e.nodeName + " " + (e.id || e.dataset.name || e.dataset.node || "") : String(e.nodeType); }

  // merge changes an element to what another one is, except for what view.js and the reader have set.
  function merge(a, b) {
    if (a.isEqualNode(b)) return;
    if (a.nodeType !== 1) {
      a.nodeValue = b.nodeValue;
      return;
    }
    if (a.classList.contains("count")) return;
    var own = ["hidden", "aria-pressed", "disabled"];
    if (a.nodeName === "DETAILS" && (a.dataset.state === b.dataset.state || a.contains(document.activeElement))) own.push("open");
    Array.from(a.attributes).forEach(function (at) { if (!own.includes(at.name) && !b.hasAttribute(at.name)) a.removeAttribute(at.name); });
    Array.from(b.attributes).forEach(function (at) { if (!own.includes(at.name) && a.getAttribute(at.name) !== at.value) a.setAttribute(at.name, at.value); });
    var at = a.firstChild;
    Array.from(b.childNodes).forEach(function (child) {
      var same = at;
      while (same && key(same) !== key(child)) same = same.nextSibling;
      if (!same) {
        a.insertBefore(document.importNode(child, true), at);
        return;
      }
      while (at !== same) at = drop(at);
      at = same.nextSibling;
      merge(same, child);
    });
    while (at) at = drop(at);
  }

  function drop(e) {
    var next = e.nextSibling;
    e.remove();
    return next;
  }

  // answerOf returns the answer that a button stands for, or null if a field is not filled in.
  function answerOf(button) {
    var around = button.closest(".answers"), answer = {}, whole = true;
    if (button.dataset.answer === "text") return around.querySelector("input[type=text]:not([name])").value || null;
    if (button.dataset.answer !== "fields") return button.value;
    around.querySelectorAll("[name]").forEach(function (f) {
      whole = whole && f.reportValidity();
      var type = f.dataset.type;
      if (type === "boolean") answer[f.name] = f.checked;
      else if (type === "array") answer[f.name] = Array.from(f.selectedOptions).map(function (o) { return o.value; });
      else if (f.value !== "") answer[f.name] = type === "string" ? f.value : Number(f.value);
    });
    return whole ? answer : null;
  }

  return { merge: merge, answerOf: answerOf };
})();
