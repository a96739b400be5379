package main

import "slices"

// comparison runs commands alternately, round by round, so that other load on the machine affects all alike.
type comparison struct {
	rounds   int
	subjects []command
	limitMS  float64 // the maximum median of a subject; 0 means no limit
	rivals   []rival
}

// rival is a command with which every subject is compared.
type rival struct {
	command
	limit float64 // the maximum ratio of a subject to it; 0 means no limit, only its time is shown
}

// times returns the milliseconds of each round, of the subjects and then of the rivals. A first round that does not count warms the
// caches.
func (c comparison) times() ([][]float64, error) {
	commands := slices.Clone(c.subjects)
	for _, r := range c.rivals {
		commands = append(commands, r.command)
	}
	times := make([][]float64, len(commands))
	for round := range c.rounds + 1 {
		for i, command := range commands {
			e, err := command.alone()
			if err != nil {
				return nil, err
			}
			if round > 0 {
				times[i] = append(times[i], milliseconds(e.took))
			}
		}
	}
	return times, nil
}

// measure returns a result for each limit of each subject.
func (c comparison) measure() ([]result, error) {
	times, err := c.times()
	if err != nil {
		return nil, err
	}
	var results []result
	for i, subject := range c.subjects {
		took := figure{subject.name, quantity{median(times[i]), "ms"}}
		whole := result{Subject: subject.name, quantity: took.quantity, Limit: c.limitMS, Rounds: c.rounds}
		for j, r := range c.rivals {
			others := times[len(c.subjects)+j]
			other := figure{r.name, quantity{median(others), "ms"}}
			if r.limit == 0 {
				whole.Beside = append(whole.Beside, other)
				continue
			}
			results = append(results, result{
				Subject: subject.name + " / " + r.name, quantity: quantity{ratio(times[i], others), "x"}, Limit: r.limit,
				Rounds: c.rounds, Beside: []figure{took, other},
			})
		}
		if c.limitMS > 0 {
			results = append(results, whole)
		}
	}
	return results, nil
}

// ratio returns the median of the rounds' ratios.
func ratio(times, others []float64) float64 {
	ratios := make([]float64, len(times))
	for round := range ratios {
		ratios[round] = times[round] / others[round]
	}
	return median(ratios)
}
