package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// runsPage measures how long the web page of 10,000 runs takes to its first row and to its end, and until a browser has painted that row.
func (b *bench) runsPage() ([]result, error) {
	const (
		runs   = 10_000
		rounds = 20
	)
	dir := b.path("runs-page")
	if err := b.homeOfRuns(dir, runs); err != nil {
		return nil, err
	}
	server := exec.Command(b.path("bin", "pflow-serve"), "http", "--listen", "127.0.0.1:0", "--toolsets", "core,runs", "--drain", "0s")
	server.Env = append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
	line, stop, err := begin(server)
	if err != nil {
		return nil, err
	}
	defer stop()
	_, address, _ := strings.Cut(line, "http://")
	base, _, _ := strings.Cut(address, "/api/mcp")
	if _, _, err := firstRow("http://" + base); err != nil { // there is an index
		return nil, err
	}
	var first, all []float64
	for range rounds {
		row, page, err := firstRow("http://" + base + "/?status=failed")
		if err != nil {
			return nil, err
		}
		first, all = append(first, milliseconds(row)), append(all, milliseconds(page))
	}
	results := []result{{Subject: "first row over HTTP", quantity: quantity{median(first), "ms"}, Limit: 300, Rounds: rounds, Beside: []figure{{"whole page", quantity{median(all), "ms"}}}}}
	page, bare, err := b.firstPaints("http://"+base+"/", rounds)
	if page != nil {
		results = append(results, result{
			Subject: "first row painted by Chromium", quantity: quantity{median(page), "ms"}, Limit: 300, Rounds: rounds,
			Beside: []figure{{"slowest", quantity{slices.Max(page), "ms"}}, {"a page of one row", quantity{median(bare), "ms"}}},
		})
	}
	return results, err
}

// firstPaints returns how long a browser takes from the start of a navigation until it has painted the first row of a page, and of a bare page, in
// milliseconds. They are nil without Node, Chromium or the packages of the end-to-end tests, which scripts/test installs.
func (b *bench) firstPaints(url string, rounds int) (page, bare []float64, err error) {
	node, ok := b.tool("node")
	if _, browser := b.tool("chromium"); !ok || !browser {
		return nil, nil, nil
	}
	const packages = "test/client/node_modules/playwright-core"
	if _, err := os.Stat(packages); err != nil {
		fmt.Fprintf(os.Stderr, "bench: skipping the browser: %v\n", err)
		return nil, nil, nil
	}
	printed, err := exec.Command(node, "test/client/first-row.mjs", url, strconv.Itoa(rounds)).Output()
	var times struct{ Page, Bare []float64 }
	if err == nil {
		err = json.Unmarshal(printed, &times)
	}
	if err == nil && (len(times.Page) != rounds || len(times.Bare) != rounds) {
		err = fmt.Errorf("the browser has loaded %s %d times, want %d", url, len(times.Page), rounds)
	}
	return times.Page, times.Bare, err
}

// firstRow asks for a page and returns how long its first row of a run takes, and the page.
func firstRow(url string) (row, page time.Duration, err error) {
	start := time.Now()
	response, err := http.Get(url) //nolint:gosec,noctx // a server of this program
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if row == 0 && bytes.Contains(lines.Bytes(), []byte("<tr data-name=")) {
			row = time.Since(start)
		}
	}
	if row == 0 {
		return 0, 0, fmt.Errorf("the page %s has no run (status %d)", url, response.StatusCode)
	}
	return row, time.Since(start), lines.Err()
}
