package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	telemetryEvents = 100_000
	telemetryMB     = 64 // resident
	telemetryRatio  = 1.5
)

// telemetry measures pflow-otel with many events, next to jq, which reads and writes the same lines.
func (b *bench) telemetry() ([]result, error) {
	events := b.path("telemetry.ndjson")
	if err := writeRuns(events, telemetryEvents); err != nil {
		return nil, err
	}
	var bodies atomic.Int64
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	collector := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		bodies.Add(n)
	})}
	go func() { _ = collector.Serve(listener) }()
	defer func() { _ = collector.Close() }()
	send := []string{b.path("bin", "pflow-otel"), "--tee"}
	var ratios, own, others, memory []float64
	const rounds = 5
	for range rounds {
		cpu, peak, err := fedWith(events, send, "OTEL_EXPORTER_OTLP_ENDPOINT=http://"+listener.Addr().String())
		if err != nil {
			return nil, err
		}
		other, _, err := fedWith(events, []string{"jq", "-c", "."})
		if err != nil {
			return nil, err
		}
		ratios, own, others, memory = append(ratios, cpu/other), append(own, cpu), append(others, other), append(memory, peak)
	}
	if bodies.Load() == 0 {
		return nil, fmt.Errorf("the collector got nothing")
	}
	perEvent := func(ms []float64) quantity { return quantity{median(ms) * 1000 / telemetryEvents, "µs"} }
	return []result{
		{Subject: "processor time next to jq -c .", quantity: quantity{median(ratios), "x"}, Limit: telemetryRatio, Rounds: rounds,
			Beside: []figure{{"pflow-otel, an event", perEvent(own)}, {"jq, an event", perEvent(others)}}},
		{Subject: "memory", quantity: quantity{median(memory), "MB"}, Limit: telemetryMB, Rounds: rounds},
	}, nil
}

// fedWith runs a command with a file as its input. It returns the processor time in milliseconds and the peak of resident memory in MB.
func fedWith(file string, args []string, env ...string) (cpu, peak float64, err error) {
	in, err := os.Open(file)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = in.Close() }()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, nil, &stderr
	if err := cmd.Run(); err != nil {
		return 0, 0, fmt.Errorf("%s: %w: %s", filepath.Base(args[0]), err, &stderr)
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return milliseconds(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()), float64(usage.Maxrss) / 1000, nil
}

// writeRuns writes the events of runs of 49 nodes to a file.
func writeRuns(file string, events int) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	encoder := json.NewEncoder(w)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	written := 0
	add := func(run int, event map[string]any) {
		at = at.Add(time.Millisecond)
		event["v"], event["seq"], event["run"], event["time"] = 1, written, fmt.Sprintf("r%08d", run), at
		_ = encoder.Encode(event) // the writer keeps its error
		written++
	}
	for run := 0; written < events; run++ {
		add(run, map[string]any{"event": "run_started", "workflow": map[string]any{"name": "bench"}, "trace_id": fmt.Sprintf("%032x", run+1), "span_id": fmt.Sprintf("%016x", run+1)})
		for node := range 49 {
			add(run, map[string]any{"event": "node_started", "node": fmt.Sprint("n", node), "type": "shell", "attempt": 1, "span_id": fmt.Sprintf("%08x%08x", run+1, node+1)})
			add(run, map[string]any{"event": "node_completed", "node": fmt.Sprint("n", node), "attempt": 1, "action": "default", "outputs": map[string]any{"stdout": string(bytes.Repeat([]byte("x"), 200))}})
		}
		add(run, map[string]any{"event": "run_finished", "status": "completed"})
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
