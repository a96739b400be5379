package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// journal measures how many bytes a node that does nothing adds to the journal. The first event does not count: it describes
// the whole workflow.
func (b *bench) journal() ([]result, error) {
	dir := b.path("journal")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	c := b.run("chain-1000")
	if _, err := c.in(dir); err != nil {
		return nil, err
	}
	path, err := journalIn(dir)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	first := bytes.IndexByte(text, '\n') + 1
	return []result{{
		Subject: c.name + ", per node", quantity: quantity{float64(len(text)-first) / 1000, "bytes"}, Limit: 1000, Rounds: 1,
		Beside: []figure{{"the run's first event", quantity{float64(first), "bytes"}}, {"the whole journal", quantity{float64(len(text)), "bytes"}}},
	}}, nil
}

// journalIn returns the path of the journal of the only run in a folder's home.
func journalIn(dir string) (string, error) {
	found, err := filepath.Glob(filepath.Join(homeIn(dir), "runs", "*", "journal.ndjson"))
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("%s has the journals of %d runs, want 1", dir, len(found))
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}
