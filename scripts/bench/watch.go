package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The limits of pflow-exec watch, on an idle machine.
const (
	watchIdleMS  = 40 // of processor time in a minute
	watchDelayMS = 10 // at the 99th percentile
)

// watch is a pflow-exec watch whose stream is read.
type watch struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// watched is an event of the stream, with when it came.
type watched struct {
	Run, Event string
	Time       time.Time
	came       time.Time
}

func (b *bench) startWatch(dir string) (*watch, error) {
	w := &watch{cmd: exec.Command(b.path("bin", "pflow-exec"), "watch")}
	w.cmd.Dir = dir
	w.cmd.Env = append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.out = bufio.NewReaderSize(out, 1<<20)
	return w, w.cmd.Start()
}

// next returns the next event.
func (w *watch) next() (e watched, err error) {
	line, err := w.out.ReadSlice('\n')
	e.came = time.Now()
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(line, &e)
}

// until reads up to the end of n runs and returns the events.
func (w *watch) until(n int) (events []watched, err error) {
	for n > 0 {
		e, err := w.next()
		if err != nil {
			return nil, err
		}
		if events = append(events, e); e.Event == "run_finished" {
			n--
		}
	}
	return events, nil
}

func (w *watch) stop() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}

// processorTime returns the processor time that the program has used.
func (w *watch) processorTime() (total time.Duration, err error) {
	files, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(w.cmd.Process.Pid), "task", "*", "schedstat"))
	if err == nil && len(files) == 0 {
		err = errors.New("the system does not show the processor time of a thread")
	}
	if err != nil {
		return 0, err
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		first, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n)
	}
	return total, nil
}

// watchIdle measures the processor time of pflow-exec watch in a minute, with 500 runs that have ended and 500 that wait for a
// person. It needs /proc.
func (b *bench) watchIdle() ([]result, error) {
	const runs, period = 1000, time.Minute
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		fmt.Fprintln(os.Stderr, "bench: there is no /proc/self/schedstat, so what an idle watch costs is not measured")
		return nil, nil
	}
	dir := b.path("watch-idle")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	asks := shellNode("ask", "true")
	asks["approval"] = true
	if err := b.writeWorkflow("watch-asks", object{"nodes": []object{asks}}); err != nil {
		return nil, err
	}
	for _, name := range []string{"chain-1", "watch-asks"} {
		cmd := exec.Command(b.path("bin", "pflow-exec"), "run", "--quiet", b.path(name+".json"))
		cmd.Env = append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
		_ = cmd.Run() // a run that waits has a status of its own
	}
	first, err := filepath.Glob(filepath.Join(homeIn(dir), "runs", "r*"))
	if err == nil && len(first) != 2 {
		err = fmt.Errorf("there are the runs %q", first)
	}
	if err != nil {
		return nil, err
	}
	for i := range runs - len(first) {
		if err := os.CopyFS(fmt.Sprintf("%s%04d", first[0][:len(first[0])-4], i), os.DirFS(first[i%2])); err != nil {
			return nil, err
		}
	}
	w, err := b.startWatch(dir)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	time.Sleep(2 * time.Second) // for its start
	before, err := w.processorTime()
	if err != nil {
		return nil, err
	}
	time.Sleep(period)
	after, err := w.processorTime()
	if err != nil {
		return nil, err
	}
	return []result{{
		Subject: "pflow-exec watch, a minute beside 1,000 runs", quantity: quantity{milliseconds(after - before), "ms"}, Limit: watchIdleMS, Rounds: 1,
		Beside: []figure{{"its start", quantity{milliseconds(before), "ms"}}},
	}}, nil
}

// watchDelay measures the time from an event, which has it, to its line in the stream of pflow-exec watch, while four runs go on.
func (b *bench) watchDelay() ([]result, error) {
	const runs, iterations = 4, 500
	dir := b.path("watch-delay")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	node := shellNode("step", "sleep 0.01")
	node["loop"] = object{"while": true, "max_iterations": iterations}
	if err := b.writeWorkflow("watch-loop", object{"nodes": []object{node}}); err != nil {
		return nil, err
	}
	w, err := b.startWatch(dir)
	if err != nil {
		return nil, err
	}
	defer w.stop()
	var started sync.WaitGroup
	failed := make(chan error, runs)
	for range runs {
		started.Go(func() {
			_, err := b.exec("run", b.path("watch-loop.json")).in(dir)
			failed <- err
		})
	}
	events, err := w.until(runs)
	if err != nil {
		return nil, err
	}
	started.Wait()
	for range runs {
		if err := <-failed; err != nil {
			return nil, err
		}
	}
	cpu, _ := w.processorTime() // only beside
	var delays []float64
	for _, e := range events {
		delays = append(delays, milliseconds(e.came.Sub(e.Time)))
	}
	return []result{{
		Subject: "pflow-exec watch, 99th percentile", quantity: quantity{percentile(delays, 99), "ms"}, Limit: watchDelayMS, Rounds: len(delays),
		Beside: []figure{
			{"median", quantity{median(delays), "ms"}}, {"longest", quantity{percentile(delays, 100), "ms"}},
			{"processor time", quantity{milliseconds(cpu), "ms"}},
		},
	}}, nil
}
