package runner

import "slices"

// denies reports whether the request's answers to the open questions of the run to go on from are all denials, which end the run.
func denies(l *Launch) bool {
	open := l.from.Open()
	return len(open) > 0 && !slices.ContainsFunc(open, func(path string) bool {
		answer := l.request.Answer
		if given, ok := l.request.Answers[path]; ok {
			answer = given.Text
		}
		return !l.from.Denies(path, answer)
	})
}
