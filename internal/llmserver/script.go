package llmserver

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// Scripted returns the answer that directives in the prompt ask for. They are in double brackets:
//
//	[[text …]]          answer with this text
//	[[json {…}]]        answer with this JSON
//	[[tool NAME {…}]]   call a tool with this input
//	[[request PATH]]    answer with the value at a path (of gjson) in the request's body, or an empty text
//	[[status N K MESSAGE]]  fail the first K times with an HTTP status, or always
//	[[error-code CODE]] the code of the error
//	[[retry-after S]]   the Retry-After of these failures, in seconds
//	[[key K]]           fail with 401 unless the request has this key
//	[[stop REASON]]     why the answer ends, as the API names it
//	[[usage I O R W]]   the numbers of tokens: input, output, read from and written to the cache
//	[[cost N]]          the cost in dollars
//	[[slow D]]          wait before the answer, such as 5s
//
// The first answer is for the first turn of the conversation, the second for the second, and the last for all that follow. Without
// an answer, it calls a forced tool with an input that fits, or answers with a value that fits the schema, or repeats the user's
// last message.
func (s *Server) Scripted(r *Request) Answer {
	var a Answer
	var answers []Answer
	for _, d := range directives(r.Prompt()) {
		word, rest, _ := strings.Cut(d, " ")
		rest = strings.TrimSpace(rest)
		switch word {
		case "text":
			answers = append(answers, Answer{Text: rest})
		case "json":
			answers = append(answers, Answer{Text: rest})
		case "tool":
			name, input, _ := strings.Cut(rest, " ")
			answers = append(answers, Answer{Calls: []Call{{Name: name, Input: json.RawMessage(input)}}})
		case "request":
			v := gjson.GetBytes(r.Body, rest)
			answers = append(answers, Answer{Text: v.String()})
		case "key":
			if r.Key() != rest {
				a.Status, a.Error = http.StatusUnauthorized, "Incorrect API key provided: "+r.Key()
			}
		case "status":
			s.status(&a, r, rest)
		case "error-code":
			a.ErrorCode = rest
		case "retry-after":
			a.Header = map[string]string{"Retry-After": rest}
		case "stop":
			a.Stop = rest
		case "usage":
			a.usage(strings.Fields(rest))
		case "cost":
			a.Cost, _ = strconv.ParseFloat(rest, 64)
		case "slow":
			a.Delay, _ = time.ParseDuration(rest)
		}
	}
	turn := r.turn()
	switch {
	case len(answers) > 0:
		chosen := answers[min(turn, len(answers)-1)]
		a.Text, a.Calls = chosen.Text, chosen.Calls
	case r.Forced != "":
		a.Calls = []Call{{Name: r.Forced, Input: Fitting(r.tool(r.Forced).Schema)}}
	case len(r.Schema) > 0:
		a.Text = string(Fitting(r.Schema))
	default:
		a.Text = r.Last()
	}
	return a
}

// status fails the request, as often as the directive says.
func (s *Server) status(a *Answer, r *Request, directive string) {
	number, rest, _ := strings.Cut(directive, " ")
	status, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	times, message, _ := strings.Cut(rest, " ")
	if limit, err := strconv.Atoi(times); err != nil {
		message = rest
	} else {
		s.mu.Lock()
		defer s.mu.Unlock()
		key := r.Model + "\n" + r.Prompt()
		if s.failed[key] >= limit {
			return
		}
		s.failed[key]++
	}
	a.Status, a.Error = status, message
}

func (a *Answer) usage(numbers []string) {
	for i, into := range []*int{&a.Input, &a.Output, &a.CacheRead, &a.CacheWrite} {
		if i < len(numbers) {
			*into, _ = strconv.Atoi(numbers[i])
		}
	}
}

func (r *Request) tool(name string) Tool {
	for _, t := range r.Tools {
		if t.Name == name {
			return t
		}
	}
	return Tool{}
}

// directives returns the texts between double brackets. JSON in them may have double brackets too.
func directives(text string) []string {
	var found []string
	for {
		_, rest, ok := strings.Cut(text, "[[")
		if !ok {
			return found
		}
		end := strings.Index(rest, "]]")
		if end < 0 {
			return found
		}
		if brace := strings.IndexByte(rest, '{'); brace >= 0 && brace < end {
			dec := json.NewDecoder(strings.NewReader(rest[brace:]))
			var v json.RawMessage
			if dec.Decode(&v) == nil {
				from := brace + int(dec.InputOffset())
				more := strings.Index(rest[from:], "]]")
				if more < 0 {
					return found
				}
				end = from + more
			}
		}
		found = append(found, rest[:end])
		text = rest[end+2:]
	}
}
