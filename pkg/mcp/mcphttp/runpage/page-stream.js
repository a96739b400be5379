// The stream of events for all tabs of a browser, which together have only six connections to a server. Each tab that is seen says which run it
// shows, or "all" for the list of runs, and is told to look when that may have changed.
(function () {
  "use strict";
  var root = location.pathname.slice(0, location.pathname.lastIndexOf("/")), most = 100;
  var shown = new Map(), fresh = [], source = null, address = "", soon = 0; // shown are the runs, by the ports of the tabs; fresh are new ports

  function tell(concerns) {
    shown.forEach(function (run, port) { if (concerns(run)) port.postMessage("look"); });
  }
  function tellAll() { tell(function () { return true; }); }

  // connect has the one stream bring what the tabs show. They look when it has begun, because of what they have missed.
  function connect() {
    var come = fresh;
    fresh = [];
    var runs = Array.from(new Set(shown.values())).filter(function (run) { return run !== "all"; }).sort().slice(0, most);
    var wanted = shown.size === 0 ? "" : root + "/api/runs/all/events?" + runs.map(function (run) { return "run=" + encodeURIComponent(run); }).join("&");
    if (wanted === address) {
      if (source && source.readyState === EventSource.OPEN) come.forEach(function (port) { port.postMessage("look"); });
      return;
    }
    if (source) source.close();
    source = null;
    address = wanted;
    if (!wanted) return;
    source = new EventSource(wanted);
    source.onopen = tellAll;
    source.onmessage = function (e) {
      var event = JSON.parse(e.data);
      tell(function (run) { return run === event.run || run === "all" && event.event.startsWith("run_"); });
    };
    source.onerror = function () {
      if (this !== source || source.readyState !== EventSource.CLOSED) return; // it asks again
      source = null;
      address = "";
      tellAll(); // they say what is wrong
    };
  }

  self.onconnect = function (e) {
    var port = e.ports[0];
    function show(run) {
      if (run) shown.set(port, run);
      else shown.delete(port);
      if (run) fresh.push(port);
      clearTimeout(soon);
      soon = setTimeout(connect, 20); // one tab often goes as another comes
    }
    port.onmessage = function (message) { show(message.data); };
    port.onclose = function () { show(""); };
  };
})();
