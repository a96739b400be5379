package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The arguments with which this program is the bare server and the client of the benchmark of streams.
const (
	bareStreams   = "bare-streams"
	streamsClient = "streams-client"
	streams       = 1000
)

// listenBody subscribes to changes; the server holds the stream open.
const listenBody = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// heldStreams opens 1,000 streams of pflow-serve http and as many of a bare net/http server, and measures the memory of server and
// client together, and when the first byte of each stream comes. It needs /proc.
func (b *bench) heldStreams() ([]result, error) {
	const mostMemory, mostWait = 2.2, 100
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	bare, _, err := holdStreams(exec.Command(self, bareStreams, "x"), self)
	if err != nil {
		return nil, err
	}
	server := exec.Command(b.path("bin", "pflow-serve"), "http", "--listen", "127.0.0.1:0", "--toolsets", "core", "--drain", "0s")
	server.Env = append(os.Environ(), "PFLOW_HOME="+b.path("streams-home"))
	ours, wait, err := holdStreams(server, self)
	if err != nil {
		return nil, err
	}
	return []result{
		{Subject: "memory with the client, over a bare SSE server", quantity: quantity{ours / bare, "x"}, Limit: mostMemory, Rounds: 1,
			Beside: []figure{{"pflow-serve http", quantity{ours, "MB"}}, {"net/http", quantity{bare, "MB"}}}},
		{Subject: "first byte, p99", quantity: quantity{wait, "ms"}, Limit: mostWait, Rounds: 1},
	}, nil
}

// holdStreams starts a server that prints its URL, opens streams with a client of its own process, and returns the memory of both in MB
// and the p99 of the time to the first byte in ms.
func holdStreams(server *exec.Cmd, self string) (memory, wait float64, err error) {
	line, stop, err := begin(server)
	if err != nil {
		return 0, 0, err
	}
	defer stop()
	_, address, _ := strings.Cut(line, "http://")
	url := "http://" + strings.Trim(address, "\"}\n")
	client := exec.Command(self, streamsClient, url)
	held, err := client.StdinPipe()
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = held.Close() }()
	line, stopClient, err := begin(client)
	if err != nil {
		return 0, 0, err
	}
	defer stopClient()
	if wait, err = strconv.ParseFloat(strings.TrimSpace(line), 64); err != nil {
		return 0, 0, err
	}
	for _, process := range []*exec.Cmd{server, client} {
		mb, err := residentMB(process.Process.Pid)
		if err != nil {
			return 0, 0, err
		}
		memory += mb
	}
	return memory, wait, nil
}

// begin starts a command and returns the first line that it prints.
func begin(cmd *exec.Cmd) (line string, stop func(), err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	if line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		stop()
		return "", nil, fmt.Errorf("%s: %w", filepath.Base(cmd.Path), err)
	}
	return line, stop, nil
}

func residentMB(pid int) (float64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	var kb float64
	_, resident, _ := strings.Cut(string(status), "VmRSS:")
	_, err = fmt.Sscan(resident, &kb)
	return kb * 1024 / 1e6, err
}

// streamsCommand is this program as one end of the streams.
func streamsCommand(end, url string) error {
	if end == bareStreams {
		return serveBareStreams()
	}
	return openStreams(url)
}

// serveBareStreams serves streams that hold what each needs and nothing else.
func serveBareStreams() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // the comparison is a bare server
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": ok\n\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
}

// openStreams opens the streams, ten at a time, prints the p99 of the time to the first byte in ms, and holds them until standard input
// ends.
func openStreams(url string) error {
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}
	var mu sync.Mutex
	var waits []float64
	var failed error
	var all sync.WaitGroup
	slots := make(chan struct{}, 10)
	for range streams {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			began := time.Now()
			err := openStream(client, url)
			mu.Lock()
			defer mu.Unlock()
			waits, failed = append(waits, milliseconds(time.Since(began))), errors.Join(failed, err)
		})
	}
	all.Wait()
	if failed != nil {
		return failed
	}
	slices.Sort(waits)
	fmt.Println(waits[len(waits)*99/100])
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// openStream opens a stream, which stays open, and reads its first byte.
func openStream(client *http.Client, url string) error {
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(listenBody))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
	} {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request) //nolint:bodyclose // it is held open
	if err != nil {
		return err
	}
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		return fmt.Errorf("the stream is %d %s", response.StatusCode, kind)
	}
	_, err = io.ReadFull(response.Body, make([]byte, 1))
	return err
}
