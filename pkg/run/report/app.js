// The MCP App: it fetches the fragments of a run through its host, puts them in place, and sends clicks as calls of the server's tools.
// See the specification of MCP Apps, SEP-1865, revision 2026-01-26.
(function () {
  "use strict";
  var main = document.querySelector("main");
  var notice = document.querySelector(".notice");
  var wait = document.querySelector(".wait");
  var tools = document.body.dataset.tools.split(" ");
  var host = { context: {}, capabilities: {} };
  var run = ""; // the run that is followed, or ""
  var exact = false; // the run is known to be that of the call
  var input = null; // the arguments of the call that this view is about
  var ended = false; // the call has its result, or was cancelled
  var stopped = false; // the host takes the view away
  var shown = ""; // the fragment that is shown
  var timer = 0, failures = 0, since = Date.now();

  // JSON-RPC with the host.

  var waiting = new Map(), last = 0;
  function post(message) { window.parent.postMessage(Object.assign({ jsonrpc: "2.0" }, message), "*"); }
  function notify(method, params) { post({ method: method, params: params }); }
  function request(method, params, seconds) {
    return new Promise(function (resolve, reject) {
      var id = ++last;
      var late = setTimeout(function () {
        waiting.delete(id);
        reject(new Error("The host did not answer " + method));
      }, seconds * 1000);
      waiting.set(id, { resolve: resolve, reject: reject, late: late });
      post({ id: id, method: method, params: params });
    });
  }

  window.addEventListener("message", function (e) {
    var m = e.data;
    if (e.source !== window.parent || !m || m.jsonrpc !== "2.0") return;
    if (m.method === undefined) {
      var call = waiting.get(m.id);
      if (!call) return;
      waiting.delete(m.id);
      clearTimeout(call.late);
      if (m.error) call.reject(new Error(m.error.message)); else call.resolve(m.result);
    } else if (m.id === undefined) {
      if (notifications[m.method]) notifications[m.method](m.params || {});
    } else if (m.method === "ping") {
      post({ id: m.id, result: {} });
    } else if (m.method === "ui/resource-teardown") {
      stopped = true;
      clearTimeout(timer);
      post({ id: m.id, result: {} });
    } else {
      post({ id: m.id, error: { code: -32601, message: "Method not found" } });
    }
  });

  var notifications = {
    "ui/notifications/host-context-changed": adapt,
    "ui/notifications/tool-input": function (params) {
      input = params.arguments || {};
      if (run) return;
      var named = typeof input.run_id === "string" ? input.run_id : typeof input.resume === "string" ? input.resume : "";
      if (named) follow(named, false); else poll();
    },
    "ui/notifications/tool-result": function (result) {
      ended = true;
      took(result);
    },
    "ui/notifications/tool-cancelled": function (params) {
      ended = true;
      if (!run) wait.textContent = "The call was cancelled" + (params.reason ? ": " + params.reason : "");
    },
  };

  // adapt takes over what has changed in the host's context: its colours, and where nothing may stand.
  function adapt(changes) {
    Object.assign(host.context, changes);
    var root = document.documentElement.style;
    if (changes.theme) root.colorScheme = changes.theme;
    var variables = (changes.styles || {}).variables || {};
    Object.keys(variables).forEach(function (name) {
      if (name.startsWith("--") && variables[name]) root.setProperty(name, variables[name]);
    });
    var insets = changes.safeAreaInsets;
    if (insets) {
      ["top", "right", "bottom", "left"].forEach(function (side) {
        document.body.style.setProperty("padding-" + side, "calc(.75rem + " + (insets[side] || 0) + "px)");
      });
    }
    resized();
  }

  var ready = false, size = "";
  function resized() {
    if (!ready) return;
    var space = host.context.containerDimensions || {};
    var height = Math.ceil(document.body.getBoundingClientRect().height);
    if (host.context.displayMode !== "fullscreen") height = Math.min(height, space.maxHeight || 800);
    var now = { width: window.innerWidth, height: height };
    if (size === JSON.stringify(now)) return;
    size = JSON.stringify(now);
    notify("ui/notifications/size-changed", now);
  }

  // The run.

  // documentOf returns the document of a tool's result.
  function documentOf(result) {
    if (result.structuredContent) return result.structuredContent;
    try {
      return JSON.parse(result.content[0].text);
    } catch (_) {
      return {};
    }
  }

  // took shows the run of a result, or else its error. It reports whether the result has a run.
  function took(result) {
    var answer = documentOf(result), error = answer.error;
    var id = answer.run_id || ((error || {}).details || {}).run_id;
    if (id) {
      wait.textContent = shown ? "" : "Run " + id + (answer.status ? ": " + answer.status : "") + (error ? "\n" + error.message : "");
      follow(id, true);
      return true;
    }
    if (error || result.isError) {
      wait.textContent = "";
      notice.textContent = error ? error.message : "The call failed";
    } else if (!run) {
      wait.textContent = "";
    }
    return false;
  }

  function follow(id, known) {
    exact = known;
    if (id !== run) shown = "";
    run = id;
    failures = 0;
    since = Date.now();
    poll();
  }

  // expected is the name of the workflow that the call runs, or "".
  function expected() {
    var tool = (host.context.toolInfo || {}).tool;
    if (!tool || tool.name === "execute") return input.name || "";
    return tool.title || tool.name;
  }

  function schedule(seconds) {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(poll, seconds * 1000);
  }

  // poll fetches the fragment of the run. Before the run of a call is known, it is the newest one, if that is live and of the same workflow.
  function poll() {
    clearTimeout(timer);
    if (stopped || document.hidden || !run && (ended || !input)) return;
    var asked = run, began = Date.now();
    request("resources/read", { uri: "pflow://runs/" + encodeURIComponent(asked || "last") + "/fragment" }, 60).then(function (result) {
      if (stopped || asked !== run) return;
      var text = result.contents[0].text;
      var article = new DOMParser().parseFromString(text, "text/html").querySelector("article");
      if (!article) throw new Error("The server sent no run");
      var of = article.dataset;
      if (!asked && !(of.live && of.workflow === expected())) return schedule(1);
      failures = 0;
      notice.textContent = "";
      wait.textContent = "";
      if (text !== shown) put(article);
      shown = text;
      if (asked && of.resumedBy) return follow(of.resumedBy, true);
      var took = (Date.now() - began) / 1000; // a long run is read less often
      if (of.live) schedule(Math.max(Date.now() - since < 60000 ? 1 : 3, 4 * took));
      else if (of.status === "paused") schedule(5);
    }).catch(function (error) {
      if (stopped || asked !== run) return;
      failures++;
      if (asked && (failures > 2 || !shown)) notice.textContent = "The run cannot be shown: " + error.message;
      if (failures < 10) schedule(Math.min(30, 1 << failures));
    });
  }

  // put shows a fragment. What a reader has opened, typed and focused stays.
  function put(article) {
    var old = main.querySelector("article");
    if (old && old.dataset.run === article.dataset.run) {
      live.merge(old, article);
    } else {
      (old || main.querySelector("h1")).remove();
      main.append(document.importNode(article, true));
    }
    view.refresh();
    allow();
    resized();
  }

  // allow enables the buttons that the server has a tool for, once the run is known for certain.
  function allow() {
    main.querySelectorAll("[data-action]").forEach(function (b) {
      b.hidden = !toolFor(b.dataset.action);
      b.disabled = !exact || sending;
    });
  }

  // What a person clicks.

  var sending = false;

  function toolFor(action) {
    var names = action === "cancel" ? ["run_cancel"] : ["run_resume", "execute"];
    return names.find(function (name) { return tools.includes(name); });
  }

  function send(button) {
    var article = main.querySelector("article"), of = article.dataset, action = button.dataset.action, tool = toolFor(action);
    var args = tool === "execute" ? { name: of.workflow, resume: of.run, wait_seconds: 0 } : { run_id: of.run };
    if (tool === "run_resume") args.wait_seconds = 0;
    if (action === "answer") {
      var answer = live.answerOf(button);
      if (answer === null) return;
      args.answers = {};
      args.answers[button.dataset.node] = answer;
    }
    sending = true;
    notice.textContent = "";
    allow();
    request("tools/call", { name: tool, arguments: args }, 120).then(function (result) {
      sending = false;
      if (took(result)) tell(button, of.run, documentOf(result).run_id);
      allow();
    }).catch(function (error) {
      sending = false;
      notice.textContent = error.message;
      allow();
    });
  }

  // tell lets the model know what was clicked, if the host passes that on.
  function tell(button, before, now) {
    if (!host.capabilities.updateModelContext) return;
    var what = button.dataset.action === "answer" ? "answered the question of node " + button.dataset.node : "chose " + button.textContent;
    request("ui/update-model-context", {
      content: [{ type: "text", text: "In the view of run " + before + ", the user " + what + ". The run is now " + (now || before) + "." }],
    }, 60).catch(function () {});
  }

  document.addEventListener("click", function (e) {
    var button = e.target.closest("[data-action]"), link = e.target.closest("a[href^='#']");
    if (button) send(button);
    if (link) {
      e.preventDefault();
      view.reveal(link.getAttribute("href").slice(1));
    }
  });
  document.addEventListener("visibilitychange", poll);
  new ResizeObserver(resized).observe(document.body);

  request("ui/initialize", {
    protocolVersion: "2026-01-26",
    appInfo: { name: "pflow", title: "A run of pflow", version: "1" },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
  }, 60).then(function (result) {
    host.capabilities = result.hostCapabilities || {};
    ready = true;
    notify("ui/notifications/initialized", {});
    adapt(result.hostContext || {});
  }).catch(function (error) { notice.textContent = error.message; });
})();
