package main

// byRunner measures what a runner adds to a run of a node that does nothing. The runner is on this machine, so that the time of a
// connection does not count.
func (b *bench) byRunner() ([]result, error) {
	const rounds, limit = 100, 15
	nodes, edges := chain(1).nodes()
	if err := b.writeWorkflow("runner-1", object{"runs_on": "far", "nodes": nodes, "edges": edges}); err != nil {
		return nil, err
	}
	there := b.run("runner-1")
	there.args = append(there.args, "--runs-on", "far=exec env -i "+b.path("bin", "pflow-exec")+" node")
	c := comparison{rounds: rounds, subjects: []command{there}, rivals: []rival{{command: b.run("chain-1")}}}
	times, err := c.times()
	if err != nil {
		return nil, err
	}
	more := make([]float64, rounds)
	for i := range more {
		more[i] = times[0][i] - times[1][i]
	}
	return []result{{
		Subject: "what the runner adds", quantity: quantity{median(more), "ms"}, Limit: limit, Rounds: rounds,
		Beside: []figure{{"by the runner", quantity{median(times[0]), "ms"}}, {"on this machine", quantity{median(times[1]), "ms"}}},
	}}, nil
}
