package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
)

const (
	proc      = "test -e /proc/self/status" // needs what shows processes, on Linux
	serveHTTP = "pflow-serve http --listen 127.0.0.1:0 --drain 0s"
)

// serving is the part of the table that is about processes which go on.
func serving() []row {
	return []row{
		{"painted page of 10,000 runs", 20, playwright, paintedPage},
		{"idle watch of 1,000 runs", 0, proc, once("CPU in a minute ms <= 40", func(s *stage) figures { // half of which wait for a person
			s.steps(1, true, nop)
			s.write("asks.json", workflow(shell("ask", "true", `,"approval":true`)))
			s.runs(1000, 2, run, "pflow-exec run --quiet $W/asks.json")
			w := s.start("pflow-exec watch")
			time.Sleep(2 * time.Second) // for its start
			start := w.processorTime()
			time.Sleep(time.Minute)
			return figures{"CPU in a minute ms": w.processorTime() - start, "CPU of its start ms": start}
		})},
		{"delay of a watch", 0, "", once("99th percentile of delays ms <= 10", func(s *stage) figures { // from an event, which has its time, to its line
			s.write("w.json", workflow(shell("step", "sleep 0.01", `,"loop":{"while":true,"max_iterations":500}`)))
			w, delays := s.start("pflow-exec watch"), []float64{}
			go drive(4, 4, 0, func(int) { s.sh(run) })
			for finished := 0; finished < 4; {
				event := gjson.Parse(w.line())
				if delays = append(delays, milliseconds(time.Since(event.Get("time").Time()))); event.Get("event").Str == "run_finished" {
					finished++
				}
			}
			return figures{"99th percentile of delays ms": percentile(delays, 99), "median of delays ms": percentile(delays, 50), "longest delay ms": percentile(delays, 100)}
		})},
		{"sync of 100 servers with 100 tools", 5, proc, manyServers},
		{"cached reads over stdio", 3000, "command -v curl", cachedReads},
		{"reads of pflow-serve", 200, "", reads},
		{"many calls of pflow-serve", 0, proc, func(s *stage) []side { // in a home of ordinary size: commands end with each call, and answers are short in any
			s.library(100, 200)
			p, requests := s.session("pflow-serve"), slices.Repeat([]string{call("describe_workflow", `{"name":"flow-50"}`)}, 10)
			requests[4], requests[9] = call("list_library", `{}`), call("browse_components", `{"query":"create issue"}`) // takes longest
			send := func(atATime int) func(int) {
				return func(n int) {
					for sent, received := 0, 0; received < n; received++ {
						for ; sent < n && sent-received < atATime; sent++ {
							p.send(strings.Replace(requests[sent%len(requests)], `"id":"tools/call"`, fmt.Sprint(`"id":`, sent), 1))
						}
						answered(p.line())
					}
				}
			}
			return append(s.burdened(p, 10_000, "calls", send(1)), s.burdened(p, 2500, "calls, 50 at a time", send(50))...)
		}},
		{"1,000 workflows as tools", 30, "", func(s *stage) []side {
			s.library(1000, 13)
			return []side{s.session("pflow-serve --toolsets=workflows --log-level=error").asked("tools/list, first page", message("tools/list", "{}"), "wall ms <= 50")}
		}},
		{"1,000 idle workflows as tools", 0, proc, func(s *stage) []side {
			s.library(1000, 13)
			p := s.session("pflow-serve --toolsets=workflows --log-level=error")
			p.ask(message("tools/list", "{}"))
			return []side{{name: "idle", limits: "memory MB <= 40", run: func() figures {
				time.Sleep(65 * time.Second) // an idle server gives memory back once a minute
				return s.leavings(p)
			}}, {name: "500 edits in 2 s", limits: "sent notices <= 2", run: func() figures {
				s.sh(`for i in 1 2 3 4 5; do sed -i 's/"description":"/&Edited. /' home/library/flow-$i??.json; sleep 0.3; done`)
				time.Sleep(4 * time.Second) // later ones would be more notices
				p.send(message("ping", "{}"))
				f := figures{"sent notices": 0}
				for !strings.Contains(p.line(), `"id":"ping"`) {
					f["sent notices"]++
				}
				return f
			}}}
		}},
		{"1,000 streams of pflow-serve", 0, proc, func(s *stage) []side { // with the memory of their client
			hold := func(name, line, limits string) side {
				return side{name: name, limits: limits, run: func() figures {
					p := s.serve(line)
					c := s.start(s.self + " streams-client " + p.url)
					wait := must(strconv.ParseFloat(strings.TrimSpace(c.line()), 64))
					return figures{"99th percentile of first bytes ms": wait, "memory MB": p.resident("VmRSS") + c.resident("VmRSS")}
				}}
			}
			return []side{hold("net/http", s.self+" streams-server", ""), hold("pflow-serve http", serveHTTP+" --toolsets core", "memory MB / net/http <= 2.2; 99th percentile of first bytes ms <= 100")}
		}},
		// 50 a second for a minute. A server admits 100 runs of a flow on a day, and 10 of a token in a minute. Each must have a run of its own that completes.
		{"runs of shared flows", 0, "", once("last accepted after s <= 61; lost runs <= 0", func(s *stage) figures {
			const runs = 3000
			p, tokens := s.flows(runs/100, 10)
			began := time.Now()
			waits := drive(runs, 100, time.Second/50, func(i int) { answered(p.post(call("run_flow", `{"token":`+tokens[i%len(tokens)].Raw+`}`))) })
			f := figures{"last accepted after s": time.Since(began).Seconds(), "median of acceptances ms": percentile(waits, 50), "99th percentile of acceptances ms": percentile(waits, 99)}
			f["lost runs"] = runs
			for deadline := time.Now().Add(5 * time.Minute); f["lost runs"] > 0 && time.Now().Before(deadline); time.Sleep(time.Second) {
				f["lost runs"] = runs - s.count(`pflow-share jobs --format=ndjson | grep '"status":"completed"' | grep -o '"run_id":"[^"]*"' | sort -u`)
			}
			return f
		})},
		{"100,000 requests of shared flows", 0, proc, func(s *stage) []side { // every fiftieth of which starts a program
			p, tokens := s.flows(1, 1)
			requests := slices.Repeat([]string{message("ping", "{}"), message("tools/list", "{}"), message("resources/templates/list", "{}"), call("nothing", "{}"), message("ping", "{}")}, 10)
			requests[0] = call("get_flow_info", `{"token":`+tokens[0].Raw+`}`)
			return s.burdened(p, 100_000, "requests", func(n int) { drive(n, 50, 0, func(i int) { p.post(requests[i%len(requests)]) }) })
		}},
		{"telemetry of 100,000 events", 5, "command -v jq", telemetry},
		{"cluster run of 1,000 nodes that loses its worker", 0, temporal, loss(1000, 7_500, 8)},
		{"cluster run of 200 MB that loses its worker", 0, temporal, loss(20, 7_500_000, 1)},
		{"batch on a cluster", 0, temporal, clusterBatch},
	}
}

// manyServers measures what pflow-sync needs for many MCP servers without what these need. Two syncs and three runs of a workflow with a
// node of each of ten servers, all at once, may lose no tool.
func manyServers(s *stage) []side {
	const sync, tools = "pflow-sync sync --all", 10_000
	s.servers(100, tools)
	again := func() { check(os.RemoveAll(s.dir + "/home/registry.json")) }
	missing := func() float64 { return tools - gjson.Get(s.sh("cat home/registry.json"), "nodes.@keys.#").Float() }
	return append(s.sides(command{
		line: sync, home: true, before: again, limits: "memory MB <= 300; wall ms <= 2000; lost tools <= 0",
		after: func(f figures) { f["lost tools"] = missing() },
	}), side{name: "sync, without what it starts", limits: "own CPU ms <= 2000", run: func() figures {
		again()
		p := s.start(sync)
		must(io.Copy(io.Discard, p.out)) // until it has ended
		return figures{"own CPU ms": p.processorTime()}
	}}, side{name: "two syncs and three runs at once", limits: "lost tools <= 0", run: func() figures {
		again()
		drive(5, 5, 0, func(i int) { s.sh([]string{sync, sync, run, run, run}[i]) })
		return figures{"lost tools": missing()}
	}})
}

// cachedReads measures reads of a resource that veloflux-mcp has in its cache, next to the same ones without a cache, which ask a Manager on the
// loopback interface. That returns as many functions as a real one.
func cachedReads(s *stage) []side {
	manager := must(velofluxserver.Listen())
	ends = append(ends, manager.Close)
	functions := strings.Trim(s.sh("curl -s "+manager.URL+"/functions"), "[]\n")
	manager.On(http.MethodGet, "/functions", velofluxserver.Fault{Body: "[" + strings.Repeat(functions+",", 6) + functions + "]", ContentType: "application/json"})
	reader := func(name, ttl, limits string) side {
		p := s.session("env PFLOW_HOME=$W/" + name + " veloflux-mcp --stdio --manager-url " + manager.URL + " --cache-ttl " + ttl)
		return p.asked(name, message("resources/read", `{"uri":"veloFlux://catalog/functions_digest"}`), limits)
	}
	return []side{reader("cached", "1h", "wall ms <= 1; wall ms / uncached <= 0.5"), reader("uncached", "0", "")}
}

// reads measures calls of pflow-serve with 1,000 saved workflows and 10,000 node types of 13 servers, next to the commands that answer them: a
// script in the place of pflow-lib notes these. The first is the one with which the others are compared.
func reads(s *stage) []side {
	s.library(1000, 10_000)
	s.write("noting/pflow-lib", fmt.Sprintf("#!/bin/sh\nprintf '%%s\\0' \"$@\" >'%s/noted'\nexec '%s' \"$@\"\n", s.dir, s.bin+"/pflow-lib"))
	s.sh("chmod +x noting/pflow-lib && ln " + s.bin + "/pflow-serve noting")
	noting, p := s.session("$W/noting/pflow-serve"), s.session("pflow-serve")
	var sides []side
	for _, read := range [][2]string{
		{"describe_workflow", `{"name":"flow-50"}`}, {"list_library", `{}`}, {"list_library", `{"pattern":"message"}`}, {"browse_components", `{}`},
		{"browse_components", `{"query":"create issue"}`}, {"browse_components", `{"query":"I want to creat an isue on githbu"}`}, {"browse_components", `{"query":"zzzz"}`},
		{"browse_components", `{"query":"` + s.sh(unknownWords) + `"}`},
	} {
		name, request := fmt.Sprintf("%.60s", read[0]+" "+read[1]), call(read[0], read[1])
		noting.ask(request)
		alone := command{name: "command of " + name, line: "pflow-lib", args: strings.Split(strings.TrimSuffix(s.sh("cat noted"), "\x00"), "\x00"), home: true, limits: "CPU ms <= 15"}
		limits := "wall ms <= 25; p99 of wall ms <= 60; document bytes <= 8192; text bytes <= 8192; wall ms - " + alone.name + " <= 3"
		if len(sides) > 0 {
			limits += "; wall ms / " + sides[0].name + " <= 4"
		}
		sides = append(append(sides, p.asked(name, request, limits)), s.sides(alone)...)
	}
	return sides
}

// burdened are two sides that send a server many requests: the first fill what is kept, the others may leave only a quarter more memory behind.
func (s *stage) burdened(p *server, n int, how string, send func(n int)) []side {
	series := func(n int, limits string) side {
		return side{name: fmt.Sprint(n, " ", how), limits: limits, run: func() figures { send(n); return s.leavings(p) }}
	}
	first := series(n/10, "")
	return []side{first, series(n, fmt.Sprintf("memory MB / %[1]s <= 1.25; left processes <= 0; left descriptors - %[1]s <= 0; left files - %[1]s <= 0", first.name))}
}

// serveStreams is a server of streams that hold what each needs and nothing else.
func serveStreams([]string) {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println("http://" + listener.Addr().String())
	check(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": ok\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})))
}

// holdStreams opens streams, prints the 99th percentile of the time to the first byte in ms, and holds them until its standard input ends.
func holdStreams(args []string) {
	listen := message("subscriptions/listen", `{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`)
	waits := drive(1000, 10, 0, func(int) {
		request := must(http.NewRequest(http.MethodPost, args[0], strings.NewReader(listen)))
		request.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"subscriptions/listen"}}
		response := must(new(http.Client).Do(request))
		if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
			check(fmt.Errorf("the stream is %s %s", response.Status, kind))
		}
		must(io.ReadFull(response.Body, make([]byte, 1)))
	})
	fmt.Println(percentile(waits, 99))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// flows shares flows of one node, each with some tokens, and serves them.
func (s *stage) flows(n, tokensOfEach int) (p *server, tokens []gjson.Result) {
	s.write("home/library/flow.json", workflow(shell("a", ":", "")))
	add := "for i in $(seq %d); do cp home/library/flow.json home/library/flow-$i.json; for j in $(seq %d); do pflow-share add flow-$i --owner-funded --format=json; done; done"
	return s.serve(serveHTTP), gjson.Get(s.sh(fmt.Sprintf(add, n, tokensOfEach)), "..#.token").Array()
}

// telemetry measures pflow-otel with the events of 1,000 runs of 49 nodes, next to jq, which reads and writes the same lines.
func telemetry(s *stage) []side {
	s.steps(49, false, "seq 60")
	s.sh(`pflow-exec run w.json >run; id=$(grep -o 'r[0-9a-z]\{26\}' run | head -n 1); for i in $(seq 1000); do sed "s/$id/r$i/" run; done >events.ndjson`)
	var received atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { n, _ := io.Copy(io.Discard, r.Body); received.Add(n) }))
	ends = append(ends, collector.Close)
	otel := inHome("pflow-otel", "env OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL+" sh -c", "CPU ms / jq <= 1.5; memory MB <= 64; unsent of 1 MB <= 0", "exec pflow-otel --tee <events.ndjson")
	otel.after = func(f figures) { f["unsent of 1 MB"] = max(0, 1e6-float64(received.Swap(0))) }
	return s.sides(otel, inHome("jq", "sh -c", "", "exec jq -c . <events.ndjson"))
}
