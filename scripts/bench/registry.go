package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// registry measures commands that use a registry of 10,000 tools, each as a whole process: searches, a check of a workflow with
// one of the tools, and a sync. It also shows the time that reading the whole file takes.
func (b *bench) registry() ([]result, error) {
	const rounds = 20
	dir := b.path("registry")
	if err := os.MkdirAll(homeIn(dir), 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(homeIn(dir), "registry.json")
	source, err := tools(10_000, 100)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return nil, err
	}
	workflow := object{"nodes": []object{{"id": "a", "type": toolType(4321, 100), "params": object{"path": "x"}}}}
	if err := b.writeWorkflow("one-tool", workflow); err != nil {
		return nil, err
	}
	time.Sleep(2500 * time.Millisecond) // the index is stored two seconds after a change
	var many strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&many, "qwrty%d ", i) // unknown words are compared with all known ones
	}
	asked := []struct {
		command
		limit float64
	}{
		{command{name: "pflow-lib search", args: []string{b.path("bin", "pflow-lib"), "search", "read file", "--no-workflows", "--format", "json"}}, 30},
		{command{name: "pflow-lib search, mistyped", args: []string{b.path("bin", "pflow-lib"), "search", "creat an isue on githbu", "--no-workflows", "--format", "json"}}, 30},
		{command{name: "pflow-lib search, 10,000 words", args: []string{b.path("bin", "pflow-lib"), "search", many.String(), "--no-workflows", "--format", "json"}}, 100},
		{command{name: "pflow-lib check of a tool", args: []string{b.path("bin", "pflow-lib"), "check", b.path("one-tool.json")}}, 20},
	}
	times, whole := make([][]float64, len(asked)), []float64{}
	for round := range rounds + 1 {
		for i, c := range asked {
			e, err := c.in(dir)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				times[i] = append(times[i], milliseconds(e.took))
			}
		}
		start := time.Now()
		if data, err := os.ReadFile(file); err != nil || !json.Valid(data) {
			return nil, fmt.Errorf("the registry is not valid JSON: %w", err)
		}
		whole = append(whole, milliseconds(time.Since(start)))
	}
	var results []result
	for i, c := range asked {
		results = append(results, result{
			Subject: c.name, quantity: quantity{median(times[i]), "ms"}, Limit: c.limit, Rounds: rounds,
			Beside: []figure{{"reading registry.json", quantity{median(whole), "ms"}}, {"its size", quantity{float64(len(source)) / 1e6, "MB"}}},
		})
	}
	changed, err := b.syncInto(dir, file, source, asked[0].command)
	return append(results, changed...), err
}

// syncInto measures a sync that adds a server's tools to the registry, and a search right after it, without an index.
func (b *bench) syncInto(dir, file string, source []byte, search command) ([]result, error) {
	const rounds = 5
	servers, err := json.Marshal(object{"mcpServers": object{"suite": object{"command": b.path("bin", "pflow-serve")}}})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(homeIn(dir), "mcp-servers.json"), servers, 0o600); err != nil {
		return nil, err
	}
	commands := []command{{name: "pflow-sync sync of one server", args: []string{b.path("bin", "pflow-sync"), "sync", "suite"}}, search}
	commands[1].name += " right after a sync"
	times := make([][]float64, len(commands))
	for range rounds {
		if err := os.WriteFile(file, source, 0o600); err != nil {
			return nil, err
		}
		for i, c := range commands {
			e, err := c.in(dir)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], milliseconds(e.took))
		}
	}
	var results []result
	for i, c := range commands {
		results = append(results, result{Subject: c.name, quantity: quantity{median(times[i]), "ms"}, Limit: 1000, Rounds: rounds})
	}
	return results, nil
}

// toolType returns the node type of a tool of the generated registry.
func toolType(i, servers int) string {
	return fmt.Sprintf("mcp-server-%d-%s-%d", i%servers, verbOf(i), i)
}

func verbOf(i int) string {
	return []string{"read-file", "create-issue", "list-channels", "query-table", "send-message", "update-page", "delete-row", "search-code"}[i%8]
}

// tools returns a registry of n tools of so many servers, that are described as servers do: with some sentences, five parameters and a schema.
func tools(n, servers int) ([]byte, error) {
	random := rand.New(rand.NewPCG(1, 2))
	words := vocabulary(random)
	nodes := object{}
	for i := range n {
		params, properties := []object{}, object{}
		for p, name := range []string{"path", "owner", "repo", "limit", "filter"} {
			help := sentence(random, words, 8+p)
			params = append(params, object{"name": name, "type": "str", "description": help, "required": p == 0})
			properties[name] = object{"type": "string", "description": help}
		}
		nodes[toolType(i, servers)] = object{
			"class_name": "MCPNode", "module": "pflow.nodes.mcp.node", "file_path": "virtual://mcp",
			"interface": object{
				"description": sentence(random, words, 15+random.IntN(30)), "params": params,
				"outputs": []object{{"name": "result", "type": "any"}}, "actions": []string{"default", "error"},
				"mcp_metadata": object{
					"server": fmt.Sprintf("server-%d", i%servers), "tool": strings.ReplaceAll(verbOf(i), "-", "_") + fmt.Sprintf("_%d", i),
					"original_schema": object{"type": "object", "properties": properties, "required": []string{"path"}},
				},
			},
		}
	}
	return json.MarshalIndent(object{"version": "1.0.0", "nodes": nodes}, "", "  ")
}

// vocabulary returns the words of descriptions: those that the searches look for, and thousands of others.
func vocabulary(random *rand.Rand) []string {
	words := strings.Fields("read write file folder issue github repository message channel table row page search the of a to in and for with from")
	syllables := strings.Fields("ba con de fer gra hin jo ka lum mer nor pla qui ras sto tru ver wen xi zo")
	for range 5000 {
		var word strings.Builder
		for range 2 + random.IntN(3) {
			word.WriteString(syllables[random.IntN(len(syllables))])
		}
		words = append(words, word.String())
	}
	return words
}

// sentence returns n words. The first ones of the vocabulary are more frequent.
func sentence(random *rand.Rand, words []string, n int) string {
	chosen := make([]string, n)
	for i := range chosen {
		chosen[i] = words[min(random.IntN(len(words)), random.IntN(len(words)), random.IntN(len(words)))]
	}
	return strings.Join(chosen, " ")
}
