package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/pflow-suite/pflow/internal/hostilemcp"
)

// manyServers syncs 100 MCP servers with 100 tools each: the processor time and the memory of pflow-sync without those of the servers,
// and the time for each server. Then two syncs and three runs at once may lose no tool. It needs /proc.
func (b *bench) manyServers() ([]result, error) {
	const count, each, rounds = 100, 100, 5
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		fmt.Fprintln(os.Stderr, "bench: there is no /proc, so a sync of many servers is not measured")
		return nil, nil
	}
	if err := quietly("go", "build", "-o", b.path("hostilemcp"), "github.com/pflow-suite/pflow/scripts/hostilemcp"); err != nil {
		return nil, err
	}
	dir := b.path("servers")
	if err := b.writeServers(dir, count, each); err != nil {
		return nil, err
	}
	sync := command{name: "pflow-sync sync --all", args: []string{b.path("bin", "pflow-sync"), "sync", "--all"}}
	var cpu, memory, per []float64
	for range rounds {
		if err := os.RemoveAll(filepath.Join(homeIn(dir), "registry.json")); err != nil {
			return nil, err
		}
		used, err := sync.alongside(dir)
		if err != nil {
			return nil, err
		}
		cpu, memory, per = append(cpu, used.cpu), append(memory, used.memory), append(per, used.took/count)
	}
	if err := lost(dir, count*each); err != nil {
		return nil, err
	}
	together, err := b.together(dir, sync, count*each)
	return append([]result{
		{Subject: sync.name + ", its processor time", quantity: quantity{median(cpu), "ms"}, Limit: 2000, Rounds: rounds},
		{Subject: sync.name + ", its memory", quantity: quantity{median(memory), "MB"}, Limit: 300, Rounds: rounds},
		{Subject: sync.name + ", time for each server", quantity: quantity{median(per), "ms"}, Limit: 20, Rounds: rounds},
	}, together...), err
}

// writeServers configures servers with tools that are described as servers do.
func (b *bench) writeServers(dir string, count, each int) error {
	registry, err := tools(count*each, count)
	if err != nil {
		return err
	}
	var generated struct {
		Nodes map[string]struct {
			Interface struct {
				Description string `json:"description"`
				MCP         struct {
					Server, Tool string
					Schema       json.RawMessage `json:"original_schema"`
				} `json:"mcp_metadata"`
			} `json:"interface"`
		} `json:"nodes"`
	}
	if err := json.Unmarshal(registry, &generated); err != nil {
		return err
	}
	listed := map[string][]object{}
	for _, node := range generated.Nodes {
		i := node.Interface
		listed[i.MCP.Server] = append(listed[i.MCP.Server], object{"name": i.MCP.Tool, "description": i.Description, "inputSchema": i.MCP.Schema})
	}
	servers := object{}
	for name, list := range listed {
		folder := filepath.Join(dir, name)
		text, err := json.Marshal(list)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, hostilemcp.GivenTools), text, 0o600); err != nil {
			return err
		}
		servers[name] = object{"command": b.path("hostilemcp"), "args": []string{hostilemcp.Given, "tools/list", folder}}
	}
	text, err := json.Marshal(object{"mcpServers": servers})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(homeIn(dir), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(homeIn(dir), "mcp-servers.json"), text, 0o600)
}

// usage is what a program used, without its children: milliseconds and megabytes.
type usage struct{ took, cpu, memory float64 }

// alongside runs the command in a folder and reads from /proc what it uses while it runs.
func (c command) alongside(dir string) (u usage, err error) {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PFLOW_HOME="+homeIn(dir))
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return u, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			u.took = milliseconds(time.Since(began))
			return u, err
		case <-time.After(time.Millisecond):
			u.read(cmd.Process.Pid)
		}
	}
}

// read reads the processor time so far and the peak of the memory. It keeps what it has if the process has ended.
func (u *usage) read(pid int) {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	status, err2 := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil || err2 != nil {
		return
	}
	// The second field, the program's name in parentheses, may contain anything. Field 3 follows it (proc_pid_stat(5)).
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system, tick = 14 - 3, 15 - 3, 10
	a, _ := strconv.ParseFloat(fields[user], 64)
	s, _ := strconv.ParseFloat(fields[system], 64)
	u.cpu = max(u.cpu, (a+s)*tick)
	if _, peak, ok := strings.Cut(string(status), "VmHWM:"); ok {
		var kilobytes float64
		_, _ = fmt.Sscan(peak, &kilobytes)
		u.memory = max(u.memory, kilobytes*1024/1e6)
	}
}

// together runs two syncs and three runs of a workflow with a node of each of ten servers at once, from an empty registry.
func (b *bench) together(dir string, sync command, all int) ([]result, error) {
	var nodes []object
	for i := range 10 {
		nodes = append(nodes, object{"id": fmt.Sprint("n", i), "type": toolType(i, 100), "params": object{"path": "x"}})
	}
	if err := b.writeWorkflow("ten-servers", object{"nodes": nodes}); err != nil {
		return nil, err
	}
	began := time.Now()
	var started errgroup.Group
	for _, c := range []command{sync, sync, b.run("ten-servers"), b.run("ten-servers"), b.run("ten-servers")} {
		started.Go(func() error {
			_, err := c.in(dir)
			return err
		})
	}
	if err := started.Wait(); err != nil {
		return nil, err
	}
	took := milliseconds(time.Since(began))
	missing, err := missing(dir, all)
	return []result{{
		Subject: "two syncs and three runs at once, tools lost", quantity: quantity{float64(missing), "more"}, Rounds: 1, Beside: []figure{{"time", quantity{took, "ms"}}},
	}}, err
}

// lost returns an error if the registry has not all tools.
func lost(dir string, all int) error {
	n, err := missing(dir, all)
	if err == nil && n != 0 {
		err = fmt.Errorf("%d of %d tools are not registered", n, all)
	}
	return err
}

// missing returns how many tools the registry does not have.
func missing(dir string, all int) (int, error) {
	text, err := os.ReadFile(filepath.Join(homeIn(dir), "registry.json"))
	if err != nil {
		return all, err
	}
	var registry struct {
		Nodes map[string]json.RawMessage `json:"nodes"`
	}
	err = json.Unmarshal(text, &registry)
	return all - len(registry.Nodes), err
}
