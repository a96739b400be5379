package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// batchMemory compares the memory of a run of a long batch with that of a short one.
func (b *bench) batchMemory() ([]result, error) {
	const rounds = 3
	var long, short []float64
	for range rounds {
		many, err := b.memory(batchOf(10_000))
		if err != nil {
			return nil, err
		}
		few, err := b.memory(batchOf(1000))
		if err != nil {
			return nil, err
		}
		long, short = append(long, many), append(short, few)
	}
	return []result{{
		Subject: "pflow-exec run / one of 1,000", quantity: quantity{ratio(long, short), "x"}, Limit: 2, Rounds: rounds,
		Beside: []figure{{"10,000 items", quantity{median(long), "MB"}}, {"1,000 items", quantity{median(short), "MB"}}},
	}}, nil
}

// batchOf returns a workflow with a batch of n items, each with a different output of about 10 kB.
func batchOf(n int) object {
	items := make([]int, n)
	for i := range items {
		items[i] = i
	}
	node := shellNode("each", "seq -f '${item} has line %g in its output' 1 330")
	node["batch"] = object{"items": items, "parallel": true}
	return object{"nodes": []object{node}}
}

// outputMemory measures the memory of a node with a long output.
func (b *bench) outputMemory() ([]result, error) {
	const rounds = 3
	var peaks []float64
	for range rounds {
		peak, err := b.memory(object{"nodes": []object{shellNode("long", "yes 'a line of text' | head -c 100000000")}})
		if err != nil {
			return nil, err
		}
		peaks = append(peaks, peak)
	}
	return []result{{Subject: "pflow-exec run", quantity: quantity{median(peaks), "MB"}, Limit: 150, Rounds: rounds}}, nil
}

// memory returns the peak memory of a run of the workflow, in MB.
func (b *bench) memory(workflow object) (float64, error) {
	if err := b.writeWorkflow("memory", workflow); err != nil {
		return 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	c := b.run("memory")
	var printed bytes.Buffer
	c.args, c.stdout = append([]string{self, weigh}, c.args...), &printed
	if _, err := c.alone(); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(printed.String()), 64)
}

// weigh is the argument with which this program runs the command after it and prints the peak memory, in MB, of that command
// or one of its children. It needs its own process, because the kernel also counts the memory that a process had before it
// executed the command, and this program at work is larger than some commands.
const weigh = "weigh"

func weighCommand(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Run(); err != nil {
		return err
	}
	usage, _ := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	most := float64(usage.Maxrss) * 1024
	if runtime.GOOS == "darwin" { // it counts in bytes
		most = float64(usage.Maxrss)
	}
	_, err := fmt.Println(most / 1e6)
	return err
}
