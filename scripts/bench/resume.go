package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// resume measures the time from the start of a resume to the start of the first node that has to run. The node creates a file,
// whose time is read. The resumed run failed in that node, its last, because the file's folder did not exist.
func (b *bench) resume() ([]result, error) {
	const rounds = 10
	noted := b.path("noted", "time")
	nodes, edges := chain(9999).nodes()
	nodes = append(nodes, shellNode("last", "touch "+noted))
	edges = append(edges, object{"from": "n9999", "to": "last"})
	if err := b.writeWorkflow("resume", object{"nodes": nodes, "edges": edges}); err != nil {
		return nil, err
	}
	failed := b.path("failed")
	if err := os.Mkdir(failed, 0o700); err != nil {
		return nil, err
	}
	if _, err := b.run("resume").in(failed); err == nil {
		return nil, errors.New("the run to resume must fail, but succeeded")
	}
	if _, err := journalIn(failed); err != nil {
		return nil, err
	}
	if err := os.Mkdir(filepath.Dir(noted), 0o700); err != nil {
		return nil, err
	}
	c := b.exec("resume", "last")
	var first, whole []float64
	for round := range rounds + 1 {
		untilFirst, took, err := b.resumeOnce(c, failed, noted)
		if err != nil {
			return nil, err
		}
		if round > 0 {
			first, whole = append(first, milliseconds(untilFirst)), append(whole, milliseconds(took))
		}
	}
	return []result{{
		Subject: c.name + " to the first node", quantity: quantity{median(first), "ms"}, Limit: 300, Rounds: rounds,
		Beside: []figure{{"the whole resume", quantity{median(whole), "ms"}}},
	}}, nil
}

// resumeOnce resumes a copy of the failed run.
func (b *bench) resumeOnce(c command, failed, noted string) (untilFirst, took time.Duration, err error) {
	dir := b.path("resumed")
	defer func() { err = errors.Join(err, os.RemoveAll(dir), os.RemoveAll(noted)) }()
	if err := os.CopyFS(dir, os.DirFS(failed)); err != nil {
		return 0, 0, err
	}
	e, err := c.in(dir)
	if err != nil {
		return 0, 0, err
	}
	info, err := os.Stat(noted)
	if err != nil {
		return 0, 0, err
	}
	return info.ModTime().Sub(e.start), e.took, nil
}
