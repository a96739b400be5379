package node

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pflow-suite/pflow/internal/webserver"
	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	for value, want := range map[string]retryAfterHeader{
		"":                               {},
		"soon":                           {},
		"-1":                             {},
		"1.5":                            {},
		"+3":                             {},
		"0":                              {0, true},
		" 7 ":                            {7 * time.Second, true},
		"007":                            {7 * time.Second, true},
		"9223372036":                     {9223372036 * time.Second, true},
		"9223372037":                     {math.MaxInt64, true},
		"99999999999999999999":           {math.MaxInt64, true},
		"Sun, 22 Nov 2026 01:02:08 GMT":  {5 * time.Second, true},
		"Sun, 22 Nov 2026 01:01:00 GMT":  {0, true},
		"Sunday, 22-Nov-26 01:02:04 GMT": {time.Second, true},
		"Sun Nov 22 01:02:05 2026":       {2 * time.Second, true},
		"Sun, 22 Nov 2026":               {},
	} {
		if got := parseRetryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "120", "18446744073709551616", "Sun, 22 Nov 2026 01:02:08 GMT", "Thu, 01 Jan 9999 00:00:00 GMT", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		r := parseRetryAfter(value, time.Unix(1e9, 0))
		if r.wait < 0 || !r.given && r.wait != 0 {
			t.Errorf("%q: %v", value, r)
		}
	})
}

func TestBackoffIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempts := rapid.IntRange(1, math.MaxInt32).Draw(t, "attempts")
		if wait := backoff(attempts); wait < firstWait/2 || wait > longestWait || attempts == 1 && wait > firstWait {
			t.Errorf("%v after %d attempts", wait, attempts)
		}
	})
}

func TestHTTPAsksAgain(t *testing.T) {
	s := webserver.Start(t)
	for name, c := range map[string]struct {
		path, params string
		count        int
	}{
		"after 503":                  {"/flaky/KEY/2", ``, 3},
		"after 503 on a post":        {"/flaky/KEY/2", `,"method":"POST"`, 3},
		"after a broken connection":  {"/drop/KEY/1", `,"method":"PUT","body":"sent again"`, 2},
		"after a short body":         {"/cut/KEY/1", ``, 2},
		"with a key for repetitions": {"/drop/KEY/1", `,"method":"POST","headers":{"Idempotency-Key":"k"}`, 2},
		"with the node's key":        {"/drop/KEY/1", `,"method":"POST","idempotency_key":true`, 2},
		"more often":                 {"/flaky/KEY/5", `,"retries":5`, 6},
	} {
		t.Run(name, func(t *testing.T) {
			on := task(t)
			on.Key = "k"
			announced := 0
			on.Progress = func(_, _ float64, message string) {
				if strings.Contains(message, " seconds: ") {
					announced++
				}
			}
			r := perform(t, on, "http", `{"url":"`+s.URL+strings.Replace(c.path, "KEY", fmt.Sprint(len(s.Requests())), 1)+`"`+c.params+`}`, nil)
			ours := announced == c.count-1 || strings.HasPrefix(c.path, "/drop") && announced == 0 // net/http itself replaces a kept connection that has broken
			if output(t, r, "response.count") != fmt.Sprint(c.count) || !ours {
				t.Errorf("%s, announced %d times", r.Outputs, announced)
			}
		})
	}
}

func TestHTTPDoesNotAskAgain(t *testing.T) {
	s := webserver.Start(t)
	for name, c := range map[string]struct {
		path, params string
		kind         fault.Type
	}{
		"a post that was sent":  {"/drop/KEY/1", `,"method":"POST"`, fault.Unavailable},
		"a patch cut off":       {"/cut/KEY/1", `,"method":"PATCH"`, fault.Unavailable},
		"a post refused by 503": {"/refuse?code=503", `,"method":"POST"`, fault.Unavailable},
		"when told not to":      {"/flaky/KEY/1", `,"retries":0`, fault.Unavailable},
		"another status":        {"/status/502", ``, fault.Unavailable},
		"a failure":             {"/status/500", ``, fault.Execution},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(s.Requests())
			r := perform(t, task(t), "http", `{"url":"`+s.URL+strings.Replace(c.path, "KEY", fmt.Sprint(before), 1)+`"`+c.params+`}`, nil)
			failedWith(t, r, c.kind)
			if got := len(s.Requests()) - before; got != 1 || r.Fault.Details["attempts"] != 1 || strings.Contains(r.Fault.Message, "attempts") {
				t.Errorf("%d requests: %+v", got, r.Fault)
			}
			if r.Fault.Retryable != (c.kind == fault.Unavailable) {
				t.Errorf("%+v", r.Fault)
			}
		})
	}
}

// A 429 means that nothing was done, whatever the method. The last response is the result.
func TestHTTPGivesUpAfterItsAttempts(t *testing.T) {
	s := webserver.Start(t)
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/refuse?code=429","method":"POST","body":"x"}`, nil)
	failedWith(t, r, fault.RateLimited, "HTTP 429 Too Many Requests", "(after 3 attempts)")
	if len(s.Requests()) != 3 || r.Fault.Details["attempts"] != 3 || !r.Fault.Retryable || plainOutput(t, r, "status_code") != "429" || plainOutput(t, r, "response.status") != "429" {
		t.Errorf("%d requests: %+v %s", len(s.Requests()), r.Fault, r.Outputs)
	}
}

// Without a connection nothing can have been done.
func TestHTTPAsksAgainWhenThereWasNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	r := perform(t, task(t), "http", `{"url":"http://`+address+`/","method":"POST","retries":1}`, nil)
	failedWith(t, r, fault.Unavailable, "Could not connect to http://"+address, "refused", "(after 2 attempts)")
	if !r.Fault.Retryable || plainOutput(t, r, "error") != r.Fault.Message {
		t.Errorf("%+v %s", r.Fault, r.Outputs)
	}
}

func TestHTTPWithoutTimeToWait(t *testing.T) {
	s := webserver.Start(t)
	date := strings.ReplaceAll(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat), " ", "+")
	for after, kind := range map[string]fault.Type{"120": fault.Unavailable, date: fault.RateLimited, "99999999999999999999": fault.Unavailable} {
		code := map[fault.Type]string{fault.Unavailable: "503", fault.RateLimited: "429"}[kind]
		before := len(s.Requests())
		r := perform(t, task(t), "http", `{"url":"`+s.URL+`/refuse?code=`+code+`&after=`+after+`","timeout":20}`, nil)
		failedWith(t, r, kind, "HTTP "+code, " seconds (Retry-After)", " seconds of the node's timeout")
		if len(s.Requests())-before != 1 || !r.Fault.Retryable || r.Fault.Details["retry_after"] == nil || !strings.Contains(r.Fault.Suggestions[0], " seconds") {
			t.Errorf("%+v", r.Fault)
		}
	}
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/refuse","timeout":2,"retries":100}`, nil) // each wait is longer
	failedWith(t, r, fault.Unavailable, "HTTP 503", " seconds of the node's timeout")
}

func TestHTTPIsCancelledWhileItWaits(t *testing.T) {
	s := webserver.Start(t)
	why := fault.New(fault.Conflict, "it is not wanted any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	on := task(t)
	on.Progress = func(_, _ float64, message string) {
		if strings.Contains(message, " 20 seconds: ") {
			cancel(why)
		}
	}
	r := Run(ctx, prepared(t, "http", `{"url":"`+s.URL+`/refuse?after=20","timeout":60}`, nil), on)
	failedWith(t, r, fault.Conflict, why.Message)
	if why.Details != nil {
		t.Errorf("the cause was written to: %+v", why)
	}
}
