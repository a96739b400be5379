
// The pages of runs: lists and runs that follow what happens, and buttons that call tools of the server.
(function () {
  "use strict";
  var body = document.body, root = body.dataset.root, tools = body.dataset.tools.split(" ");
  var main = document.querySelector("main"), notice = document.querySelector(".notice"), said = document.getElementById("said");

  // say tells a reader of the screen what has changed.
  function say(text) { if (said.textContent !== text) said.textContent = text; }
  function complain(text) { notice.textContent = text; }

  // load fetches a page of the server as a document.
  function load(path) {
    return fetch(root + path, { headers: { Accept: "text/html" }, credentials: "same-origin" }).then(function (response) {
      return response.text().then(function (text) {
        var page = new DOMParser().parseFromString(text, "text/html");
        if (response.ok) return page;
        var lead = page.querySelector(".lead");
        throw new Error(response.status === 401 ? "You are signed out: load the page again" : lead ? lead.textContent : "The server answered " + response.status);
      });
    });
  }

  // call calls a tool of the server and returns its document. An error of the tool is thrown.
  function call(tool, args) {
    var message = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":' + JSON.stringify(tool) + ',"arguments":' + args + "}}";
    return fetch(root + "/api/mcp", { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, credentials: "same-origin", body: message }).then(function (response) {
      return response.json();
    }).then(function (answer) {
      if (answer.error) throw new Error(answer.error.message);
      var document = answer.result.structuredContent || {};
      var failed = answer.result.isError ? document.error || { message: "The call failed" } : null;
      if (!failed || document.run_id || (failed.details || {}).run_id) return document.run_id ? document : failed ? failed.details : document;
      throw new Error([failed.message].concat(failed.suggestions || []).join("\n"));
    });
  }

  // calmly returns a function that calls f soon, and again only after f has ended and a pause has passed.
  function calmly(f, pause) {
    var busy = false, again = false;
    return function run() {
      if (busy) {
        again = true;
        return;
      }
      busy = true;
      again = false;
      f().catch(function (error) { complain(error.message); }).then(function () {
        setTimeout(function () {
          busy = false;
          if (again) run();
        }, pause);
      });
    };
  }

  // The list of runs.

  function list() {
    var filters = document.querySelector(".filters"), typing = 0, cursor = new URLSearchParams(location.search).get("cursor");
    function address() {
      var values = new URLSearchParams();
      new FormData(filters).forEach(function (value, name) { if (value) values.set(name, value); });
      if (cursor) values.set("cursor", cursor);
      return "/" + (String(values) ? "?" + values : "");
    }
    function refresh() {
      var asked = address();
      return load(asked).then(function (page) {
        if (asked !== address()) return;
        var old = document.getElementById("list"), now = page.getElementById("list"), chosen = picked();
        live.merge(old, now);
        boxes().forEach(function (b) { b.checked = chosen.includes(b.value); });
        pick();
        complain("");
        return old.querySelectorAll("tbody tr").length;
      });
    }
    var soon = calmly(refresh, 1000);
    function filter() {
      clearTimeout(typing);
      typing = setTimeout(function () {
        cursor = null;
        history.replaceState(null, "", root + address());
        refresh().then(function (n) { if (n !== undefined) say(n === 0 ? "No run matches" : n + " runs shown"); }).catch(function (error) { complain(error.message); });
      }, 250);
    }
    filters.addEventListener("input", filter);
    filters.addEventListener("submit", function (e) {
      e.preventDefault();
      filter();
    });

    function boxes() { return Array.from(document.querySelectorAll(".pick input")); }
    function picked() { return boxes().filter(function (b) { return b.checked; }).map(function (b) { return b.value; }); }
    function pick() {
      var n = picked().length, button = document.getElementById("compare");
      if (button) button.disabled = n !== 2;
      boxes().forEach(function (b) { b.disabled = n >= 2 && !b.checked; });
    }
    main.addEventListener("change", function (e) { if (e.target.closest(".pick")) pick(); });
    main.addEventListener("submit", function (e) {
      if (e.target.id !== "list") return;
      e.preventDefault();
      var chosen = picked(); // the newer one stands first
      location.href = root + "/compare?a=" + encodeURIComponent(chosen[1]) + "&b=" + encodeURIComponent(chosen[0]);
    });
    pick();
    if (!cursor) painted(function () { follow("all", soon); });
  }

  // painted calls f after the page has been shown: what f asks the server for does not delay that.
  function painted(f) { requestAnimationFrame(function () { setTimeout(f); }); }

  // follow calls f whenever a run, or the list of runs for "all", may have changed, while the page is seen. It returns what ends that.
  function follow(run, f) {
    var leave = null;
    function look(e) {
      var seen = document.visibilityState === "visible" && e.type !== "pagehide";
      if (seen === Boolean(leave)) return;
      if (seen) leave = connect(run, f);
      else end();
    }
    function end() {
      if (leave) leave();
      leave = null;
    }
    var events = ["visibilitychange", "pagehide", "pageshow"]; // the last one brings a page back that the browser has kept
    events.forEach(function (name) { addEventListener(name, look, true); });
    look({});
    return function () {
      events.forEach(function (name) { removeEventListener(name, look, true); });
      end();
    };
  }

  // connect calls f with what happens to a run until the function that it returns is called. All tabs share one stream; a browser that cannot
  // share has one for each that is seen.
  function connect(run, f) {
    if (window.SharedWorker) {
      var port = new SharedWorker(body.dataset.worker).port;
      port.onmessage = f;
      port.postMessage(run);
      return function () {
        port.postMessage("");
        port.close();
      };
    }
    var source = new EventSource(root + "/api/runs/all/events" + (run === "all" ? "" : "?run=" + run));
    source.onopen = f;
    source.onmessage = function (e) { if (run === "all" || JSON.parse(e.data).run === run) f(); };
    return function () { source.close(); };
  }

  // A run.

  function run() {
    var article = main.querySelector("article"), id = article.dataset.run, sending = false;
    function toolFor(action) {
      var names = action === "cancel" ? ["run_cancel"] : ["run_resume", "execute"];
      return names.find(function (name) { return tools.includes(name); });
    }
    function allow() {
      main.querySelectorAll("[data-action]").forEach(function (b) {
        b.hidden = !toolFor(b.dataset.action);
        b.disabled = sending;
      });
    }
    function put(page) {
      var now = page.querySelector("article");
      if (!now) throw new Error("The server sent no run");
      live.merge(article, now);
      view.refresh();
      allow();
      document.title = page.title;
      watch();
      var state = article.querySelector(".outcome .state");
      say(state.textContent.replace(/^\W+/, ""));
    }
    function refresh() { return load("/runs/" + id).then(put); }
    var soon = calmly(refresh, 500), leave = null;
    function watch() {
      var live = Boolean(article.dataset.live);
      if (live === Boolean(leave)) return;
      if (!live) leave();
      leave = live ? follow(id, soon) : null;
    }
    function show(next) {
      if (next && next !== id) {
        location.href = root + "/runs/" + next;
        return;
      }
      return refresh();
    }
    function send(button) {
      var action = button.dataset.action, tool = toolFor(action), of = article.dataset, args = { run_id: id };
      if (tool === "execute") args = { name: of.workflow, resume: id };
      if (action !== "cancel") args.wait_seconds = 0;
      if (action === "answer") {
        var answer = live.answerOf(button);
        if (answer === null) return;
        args.answers = {};
        args.answers[button.dataset.node] = answer;
      }
      sending = true;
      complain("");
      allow();
      call(tool, JSON.stringify(args)).then(function (document) { return show(document.run_id); }).catch(function (error) { complain(error.message); }).then(function () {
        sending = false;
        allow();
      });
    }
    main.addEventListener("click", function (e) {
      var button = e.target.closest("[data-action]");
      if (button) send(button);
    });
    view.refresh();
    allow();
    watch();
  }

  // Two runs. Each fragment stands in a tree of its own, because both have the same ids.

  function compare() {
    document.querySelectorAll(".beside section").forEach(function (section) {
      load("/runs/" + section.dataset.run).then(function (page) {
        var tree = section.attachShadow({ mode: "open" }), style = document.createElement("link");
        style.rel = "stylesheet";
        style.href = document.querySelector("link[rel=stylesheet]").href;
        tree.append(style, document.importNode(page.querySelector("article"), true));
        tree.querySelectorAll("[data-action]").forEach(function (b) { b.remove(); });
        tree.querySelectorAll("[aria-label], [aria-labelledby]").forEach(function (e) { // both have parts of the same names
          var by = e.getAttribute("aria-labelledby");
          e.setAttribute("aria-label", (by ? tree.getElementById(by).textContent : e.getAttribute("aria-label")) + ", " + section.getAttribute("aria-label"));
          e.removeAttribute("aria-labelledby");
        });
        tree.addEventListener("click", function (e) {
          var link = e.target.closest("a[href^='#']"), to = link ? tree.getElementById(link.getAttribute("href").slice(1)) : null;
          if (!link) return;
          e.preventDefault();
          for (var around = to ? to.closest("details") : null; around; around = around.parentElement.closest("details")) around.open = true;
          if (to) to.scrollIntoView();
        });
      }).catch(function (error) { complain(error.message); });
    });
  }

  // A workflow.

  // valueOf returns the JSON of a field, or "" for one that is left out. It keeps the spelling of numbers.
  function valueOf(field) {
    var text = field.value, type = field.dataset.type;
    field.setCustomValidity("");
    if (text === "") return "";
    if (type === "string") return JSON.stringify(text);
    try {
      var value = JSON.parse(text), kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
      if (type === "any" || kind === type || type === "integer" && Number.isInteger(value)) return text;
    } catch (_) {
      if (type === "any") return JSON.stringify(text);
    }
    field.setCustomValidity("This must be " + (/^[aio]/.test(type) ? "an " : "a ") + type + (type === "array" || type === "object" ? " in JSON" : ""));
    return "";
  }

  function workflow() {
    var form = document.getElementById("start"), button = form.querySelector("button");
    form.addEventListener("input", function (e) { e.target.setCustomValidity(""); });
    form.addEventListener("submit", function (e) {
      e.preventDefault();
      var inputs = [];
      form.querySelectorAll("[name]").forEach(function (field) {
        var value = valueOf(field);
        if (value) inputs.push(JSON.stringify(field.name) + ":" + value);
      });
      if (!form.reportValidity()) return;
      button.disabled = true;
      complain("");
      call("execute", '{"name":' + JSON.stringify(form.dataset.workflow) + ',"wait_seconds":0,"inputs":{' + inputs.join(",") + "}}").then(function (document) {
        location.href = root + "/runs/" + document.run_id;
      }).catch(function (error) {
        button.disabled = false;
        complain(error.message);
        button.focus();
      });
    });
  }

  ({ runs: list, run: run, compare: compare, workflow: workflow }[body.dataset.page] || function () {})();
})();
