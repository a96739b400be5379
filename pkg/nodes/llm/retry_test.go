package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/internal/golden"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// situation is what each attempt of a question meets.
type situation struct {
	status int // 0: there is no response
	// header has lines of the response's header, and body its body. If it is broken, the body breaks off.
	header, body string
	broken       bool
	// attempts is the maximum number of attempts, by default 4, and timeout the time for all of them, by default an hour.
	attempts int
	timeout  time.Duration
}

func (s situation) String() string {
	text := "no response"
	if s.status != 0 {
		text = fmt.Sprint(s.status)
	}
	for line := range strings.Lines(s.header) {
		text += ", " + strings.TrimSpace(line)
	}
	if s.broken {
		text += ", the body breaks off"
	}
	if s.body != "" {
		text += ", " + s.body
	}
	if s.attempts != 0 {
		text += fmt.Sprintf(", %d attempts at most", s.attempts)
	}
	if s.timeout != 0 {
		text += fmt.Sprintf(", within %v", s.timeout)
	}
	return text
}

// RoundTrip returns what an attempt meets.
func (s situation) RoundTrip(*http.Request) (*http.Response, error) {
	if s.status == 0 {
		return nil, errors.New("connection refused")
	}
	header := http.Header{}
	for line := range strings.Lines(s.header) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		header.Set(name, value)
	}
	if s.broken {
		return answer(s.status, header, iotest.ErrReader(io.ErrUnexpectedEOF)), nil
	}
	return answer(s.status, header, strings.NewReader(cmp.Or(s.body, completion))), nil
}

// TestRetries compares with a golden file after which failures a request is sent again, and how long it waits until then. The clock is
// that of a bubble, which begins in the year 2000.
func TestRetries(t *testing.T) {
	t.Parallel()
	const quota = `{"error":{"code":"insufficient_quota"}}`
	var cases []situation
	for _, status := range []int{200, 204, 304, 307, 400, 401, 402, 403, 404, 408, 409, 413, 422, 425, 429, 499, 500, 501, 502, 503, 504, 529, 599, 0} {
		cases = append(cases, situation{status: status})
	}
	for _, header := range []string{
		"Retry-After: 3", "Retry-After: 0", "Retry-After: 1.25", "Retry-After: -1", "Retry-After: ", "Retry-After: soon", "Retry-After: NaN", "Retry-After: Inf", "Retry-After: 1e400",
		"Retry-After: 120", "Retry-After: 120.5", "Retry-After: 3600", "Retry-After: Sat, 01 Jan 2000 00:00:10 GMT", "Retry-After: Fri, 31 Dec 1999 23:59:00 GMT",
		"Retry-After: Sat, 01 Jan 2000 01:00:00 GMT", "Retry-After: Saturday, 01-Jan-00 00:00:10 GMT",
		"Retry-After-Ms: 1250", "Retry-After-Ms: 0", "Retry-After-Ms: -5", "Retry-After-Ms: soon", "Retry-After-Ms: 120001",
		"Retry-After-Ms: 1250\nRetry-After: 3", "Retry-After-Ms: soon\nRetry-After: 3", "Retry-After-Ms: 1250\nRetry-After: 3600",
		"X-Should-Retry: true", "X-Should-Retry: false", "X-Should-Retry: maybe", "X-Should-Retry: false\nRetry-After: 3",
	} {
		cases = append(cases, situation{status: 429, header: header})
	}
	cases = append(cases,
		situation{status: 503, header: "Retry-After: 3"}, situation{status: 500, header: "Retry-After-Ms: 3000"}, situation{status: 400, header: "Retry-After: 3"},
		situation{status: 400, header: "X-Should-Retry: true"}, situation{status: 503, header: "X-Should-Retry: false"},
		situation{status: 400, header: "X-Should-Retry: true\nRetry-After: 3"}, situation{status: 400, header: "X-Should-Retry: true\nRetry-After: 3600"},
		situation{status: 200, header: "X-Should-Retry: true"}, situation{status: 307, header: "X-Should-Retry: true"},
		situation{status: 429, body: quota}, situation{status: 429, body: quota, header: "X-Should-Retry: true"}, situation{status: 403, body: quota},
		situation{status: 200, broken: true}, situation{status: 500, broken: true}, situation{status: 400, broken: true},
		situation{attempts: 1}, situation{status: 503, attempts: 1}, situation{status: 503, attempts: 7},
		situation{status: 503, attempts: 7, timeout: 4 * time.Second}, situation{status: 429, header: "Retry-After: 90", timeout: time.Minute},
		situation{status: 429, header: "Retry-After: 50", timeout: time.Minute}, situation{status: 429, header: "Retry-After-Ms: 90000", timeout: time.Minute},
	)
	var b strings.Builder
	for _, c := range cases {
		openai, anthropic := course(t, "gpt-x", c), course(t, "claude-x", c)
		if openai == anthropic {
			fmt.Fprintf(&b, "%s\n\t%s\n", c, openai)
		} else {
			fmt.Fprintf(&b, "%s\n\topenai: %s\n\tanthropic: %s\n", c, openai, anthropic)
		}
	}
	golden.Compare(t, "testdata/retries.golden", b.String())
}

// course asks a question in a situation and returns the pauses between the attempts, and the end.
func course(t *testing.T, model string, s situation) (course string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var sent time.Time
		attempt, told := 0, 0
		q, x := prepared(t, nodetype.LLM{Model: model, Retries: cmp.Or(s.attempts, 4) - 1}, roundTrip(func(req *http.Request) (*http.Response, error) {
			if req.Method != http.MethodPost { // it asks for the models
				return nil, errors.New("no models")
			}
			if attempt++; attempt > 1 {
				course += pause(attempt-1, time.Since(sent)) + ", "
			}
			sent = time.Now()
			return s.RoundTrip(req)
		}))
		x.progress = func(string) { told++ }
		ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(s.timeout, time.Hour))
		defer cancel()
		_, err := x.send(ctx, q)
		course += end(err)
		if told > 0 {
			course += fmt.Sprintf("; retries told: %d", told)
		}
	})
	return course
}

// pause returns how long the pause before a retry was, or the power of two to which it belongs.
func pause(retry int, d time.Duration) string {
	most := min(8*time.Second, 500*time.Millisecond<<(retry-1))
	if d > most*3/4-time.Microsecond && d <= most+time.Microsecond {
		return fmt.Sprintf("¾–1 of %v", most)
	}
	return d.String()
}

// end returns the type of the fault in an error of send.
func end(err error) string {
	switch f, ok := errors.AsType[*fault.Fault](err); {
	case ok:
		return string(f.Type)
	case err == nil:
		return "an answer"
	default:
		return err.Error()
	}
}
