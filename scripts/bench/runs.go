package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// runLists measures lists of 10,000 runs that have ended, of which every tenth failed, each as a whole process.
func (b *bench) runLists() ([]result, error) {
	const (
		runs   = 10_000
		rounds = 20
	)
	dir := b.path("runs")
	if err := b.homeOfRuns(dir, runs); err != nil {
		return nil, err
	}
	exec := func(args ...string) []string { return append([]string{b.path("bin", "pflow-exec")}, args...) }
	index := filepath.Join(homeIn(dir), "runs", ".index")
	asked := []struct {
		command
		limit   float64
		rounds  int
		prepare func() error
	}{
		{command{name: "all, without an index", args: exec("list")}, 3000, 3, func() error { return os.Remove(index) }},
		{command{name: "all", args: exec("list")}, 60, rounds, nil},
		{command{name: "20 that failed", args: exec("list", "--status", "failed", "--limit", "20")}, 30, rounds, nil},
		{command{name: "by text", args: exec("list", "--text", "third counted", "--limit", "20")}, 60, rounds, nil},
		{command{name: "by an input", args: exec("list", "--input", "n=5000")}, 60, rounds, nil},
		{command{name: "statistics of a workflow", args: []string{b.path("bin", "pflow-lib"), "describe", "counted"}}, 60, rounds, nil},
	}
	if _, err := asked[1].in(dir); err != nil { // there is an index
		return nil, err
	}
	var results []result
	for _, c := range asked {
		var took, cpu []float64
		for range c.rounds {
			if c.prepare != nil {
				if err := c.prepare(); err != nil {
					return nil, err
				}
			}
			e, err := c.in(dir)
			if err != nil {
				return nil, err
			}
			took, cpu = append(took, milliseconds(e.took)), append(cpu, milliseconds(e.cpu))
		}
		results = append(results, result{
			Subject: c.name, quantity: quantity{median(took), "ms"}, Limit: c.limit, Rounds: c.rounds, Beside: []figure{{"processor time", quantity{median(cpu), "ms"}}},
		})
	}
	return results, nil
}

// homeOfRuns makes a home with runs of one workflow: copies of one that completed and of one that failed, with ids and inputs of
// their own.
func (b *bench) homeOfRuns(dir string, runs int) error {
	home := homeIn(dir)
	text := `{"description":"Count to the third","inputs":{"n":{"type":"integer"}},"nodes":[{"id":"a","type":"shell","params":{"command":"exit ${n}"}}]}`
	if err := errors.Join(os.MkdirAll(filepath.Join(home, "library"), 0o700), os.WriteFile(filepath.Join(home, "library", "counted.json"), []byte(text), 0o600)); err != nil {
		return err
	}
	var originals []map[string]string
	for _, n := range []string{"0", "1"} {
		_, err := command{name: "run", args: []string{b.path("bin", "pflow-exec"), "run", "--quiet", "counted", "n=" + n}}.in(dir)
		if err != nil && n == "0" {
			return err
		}
		found, _ := filepath.Glob(filepath.Join(home, "runs", "r*"))
		if len(found) == 0 {
			return errors.New("there is no run")
		}
		files := map[string]string{"id": filepath.Base(found[len(found)-1])}
		for _, name := range []string{"journal.ndjson", "workflow.json", "lock"} {
			content, err := os.ReadFile(filepath.Join(found[len(found)-1], name))
			if err != nil {
				return err
			}
			files[name] = string(content)
		}
		originals = append(originals, files)
	}
	for i := range runs - len(originals) {
		of := originals[0]
		if i%10 == 0 {
			of = originals[1]
		}
		id := fmt.Sprintf("r00%024d", i)
		folder := filepath.Join(home, "runs", id)
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
		journal := strings.NewReplacer(of["id"], id, `"inputs":{"n":0}`, fmt.Sprintf(`"inputs":{"n":%d}`, i), `"inputs":{"n":1}`, fmt.Sprintf(`"inputs":{"n":%d}`, i)).Replace(of["journal.ndjson"])
		for name, content := range map[string]string{"journal.ndjson": journal, "workflow.json": of["workflow.json"], "lock": of["lock"]} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}
