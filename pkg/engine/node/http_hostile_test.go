package node

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/internal/webserver"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// hostileCase is the behaviour of a hostile server, and the failure that it causes.
type hostileCase struct {
	path, params string
	kind         fault.Type
	words        []string
	retryable    bool
	attempts     int
	// status is 0 if there was no response.
	status int
}

var hostileCases = map[string]hostileCase{
	"no answer":        {"silent", `"timeout":0.2`, fault.Timeout, []string{"0.2 seconds"}, true, 1, 0},
	"slow headers":     {"slow-headers", `"timeout":0.3`, fault.Timeout, []string{"0.3 seconds"}, true, 1, 0},
	"slow body":        {"drip", `"timeout":2`, fault.Timeout, []string{"2 seconds", " bytes"}, true, 1, 200},
	"endless headers":  {"endless-headers", ``, fault.TooLarge, []string{"headers", "1048576 bytes"}, false, 1, 0},
	"interim answers":  {"informational", ``, "", []string{"/hostile/informational"}, false, 1, 0},
	"endless body":     {"endless", `"max_size":4194304`, fault.TooLarge, []string{"4194304 bytes"}, false, 1, 200},
	"endless to file":  {"endless", `"max_size":4194304,"output_file":"f"`, fault.TooLarge, []string{"4194304 bytes"}, false, 1, 200},
	"until time is up": {"drip", `"timeout":2,"output_file":"f"`, fault.Timeout, []string{"2 seconds", " bytes"}, true, 1, 200},
	"endless failure":  {"endless?code=500", `"max_size":4194304`, fault.Execution, []string{"HTTP 500", ": endless endless"}, false, 1, 500},
	"gzip bomb":        {"bomb", `"max_size":4194304`, fault.TooLarge, []string{"4194304 bytes"}, false, 1, 200},
	"JSON bomb":        {"bomb?json", `"max_size":4194304`, fault.TooLarge, []string{"4194304 bytes"}, false, 1, 200},
	"bomb to file":     {"bomb", `"max_size":4194304,"output_file":"f"`, fault.TooLarge, []string{"4194304 bytes"}, false, 1, 200},
	"too short":        {"short", ``, fault.Unavailable, []string{"6 of 1000 bytes", "3 attempts"}, true, 3, 200},
	"short to file":    {"short", `"output_file":"f"`, fault.Unavailable, []string{"6 of 1000 bytes", "3 attempts"}, true, 3, 200},
	"short after post": {"short", `"method":"POST"`, fault.Unavailable, []string{"6 of 1000 bytes"}, true, 1, 200},
	"torn chunks":      {"chunks", `"retries":0`, fault.Unavailable, []string{"/hostile/"}, true, 1, 200},
	"torn gzip":        {"torn", `"retries":0`, fault.Unavailable, []string{"/hostile/"}, true, 1, 200},
	"no gzip":          {"unpacked", ``, fault.Protocol, []string{"gzip"}, false, 1, 200},
	"corrupt gzip":     {"corrupt", ``, fault.Protocol, []string{"gzip"}, false, 1, 200},
	"corrupt to file":  {"corrupt", `"output_file":"f"`, fault.Protocol, []string{"gzip"}, false, 1, 200},
	"odd chunks":       {"numbers", ``, fault.Protocol, []string{"invalid byte in chunk length"}, false, 1, 200},
	"two lengths":      {"lengths", ``, fault.Protocol, []string{"multiple Content-Length"}, false, 1, 0},
	"other protocol":   {"upgrade", `"timeout":60`, fault.Protocol, []string{"HTTP 101"}, false, 1, 101},
	"no HTTP":          {"garbage", ``, fault.Protocol, []string{"/hostile/garbage"}, false, 1, 0},
	"redirect to self": {"loop", ``, fault.Execution, []string{"loop", "10 redirects: ", "/hostile/loop → "}, false, 1, 302},
	"ping and pong":    {"ping", `"max_redirects":3`, fault.Execution, []string{"loop", "3 redirects: ", "/hostile/ping → ", "/hostile/pong → "}, false, 1, 302},
	"no end in sight":  {"maze/0", ``, fault.Execution, []string{"10 redirects: ", "/maze/0 → ", " → … → ", "/maze/11"}, false, 1, 302},
}

func TestHTTPAgainstAHostileServer(t *testing.T) {
	s := webserver.Start(t)
	for name, c := range hostileCases {
		t.Run(name, func(t *testing.T) {
			on := task(t)
			params := `{"url":"` + s.URL + "/hostile/" + c.path + `"`
			if c.params != "" {
				params += "," + c.params
			}
			before := allocated()
			r := perform(t, on, "http", params+"}", nil)
			took := allocated() - before
			if c.kind == "" { // net/http decides how many interim responses are too many
				c.kind = r.Fault.Type
			}
			failedWith(t, r, c.kind, c.words...)
			if r.Fault.Retryable != c.retryable || r.Fault.Details["attempts"] != c.attempts || len(r.Fault.Suggestions) == 0 {
				t.Errorf("%+v", r.Fault)
			}
			if plainOutput(t, r, "error") != r.Fault.Message {
				t.Errorf("an error edge gets %s", r.Outputs)
			}
			if hasGoWords(r.Fault.Message) {
				t.Errorf("the message names Go packages: %s", r.Fault.Message)
			}
			if got := gjson.GetBytes(r.Outputs, "status_code").Int(); got != int64(c.status) {
				t.Errorf("status_code %d, want %d", got, c.status)
			}
			if left, err := os.ReadDir(on.Dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
			if took > 48<<20 { // the server's part is in it
				t.Errorf("%d MiB of memory were taken", took>>20)
			}
		})
	}
}

// hasGoWords reports whether a message contains the names of Go packages or system calls.
func hasGoWords(message string) bool {
	return slices.ContainsFunc([]string{"net/http:", "http2:", "tls:", "x509:", "dial tcp", "connect:", "read:", "HTTP/1.x", "lookup "}, func(words string) bool { return strings.Contains(message, words) })
}

// allocated returns how many bytes of memory have ever been allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A body without a limit is streamed into a file.
func TestHTTPDownloadTakesNoMemory(t *testing.T) {
	s := webserver.Start(t)
	const size = 256 << 20
	on := task(t)
	before := allocated()
	r := perform(t, on, "http", fmt.Sprintf(`{"url":"%s/bytes/%d","output_file":"big"}`, s.URL, size), nil)
	if took := allocated() - before; took > 16<<20 {
		t.Errorf("%d MiB of memory were taken", took>>20)
	}
	if output(t, r, "size") != fmt.Sprint(size) {
		t.Errorf("%s", r.Outputs)
	}
}

func TestHTTPWithABodyLongerThanItSays(t *testing.T) {
	s := webserver.Start(t)
	r := perform(t, task(t), "http", `{"url":"`+s.URL+`/hostile/long"}`, nil)
	if output(t, r, "response") != "whole" {
		t.Errorf("%s", r.Outputs)
	}
}

func TestHTTPAgainstInvalidTLS(t *testing.T) {
	s := webserver.Start(t)
	port := s.TLSURL[strings.LastIndexByte(s.TLSURL, ':'):]
	for name, c := range map[string]struct {
		url, params string
		kind        fault.Type
		says        string
		suggests    string
	}{
		"unknown authority":  {s.TLSURL, ``, fault.Execution, "authority", `"ca_file"`},
		"self-signed":        {s.SelfSignedURL, ``, fault.Execution, "self-signed", `"ca_file"`},
		"other self-signed":  {s.SelfSignedURL, `,"ca_file":"` + s.CAFile + `"`, fault.Execution, "self-signed", `"verify_tls": false`},
		"expired":            {s.ExpiredURL, `,"ca_file":"` + s.CAFile + `"`, fault.Execution, "expired on 20", "clock"},
		"for another host":   {s.WrongHostURL, `,"ca_file":"` + s.CAFile + `"`, fault.Execution, "elsewhere.test", "URL"},
		"without client's":   {s.MutualURL, `,"ca_file":"` + s.CAFile + `"`, fault.Execution, s.MutualURL, `"client_cert"`},
		"no TLS":             {"https" + strings.TrimPrefix(s.URL, "http"), ``, fault.Protocol, "plain HTTP", "http://"},
		"HTTP where TLS is":  {"http://127.0.0.1" + port, ``, fault.Execution, "HTTP 400", `"error"`},
		"broken ca_file":     {s.TLSURL, `,"ca_file":"` + s.ClientKey + `"`, fault.Execution, s.ClientKey, "BEGIN CERTIFICATE"},
		"missing ca_file":    {s.TLSURL, `,"ca_file":"nowhere.pem"`, fault.Execution, "nowhere.pem", "working directory"},
		"key alone":          {s.MutualURL, `,"client_key":"` + s.ClientKey + `"`, fault.Execution, "client_key", "client_cert"},
		"certificate alone":  {s.MutualURL, `,"client_cert":"` + s.ClientCert + `"`, fault.Execution, s.ClientCert, "client_key"},
		"key of another one": {s.MutualURL, `,"client_cert":"` + s.CAFile + `","client_key":"` + s.ClientKey + `"`, fault.Execution, s.CAFile, "client_key"},
	} {
		t.Run(name, func(t *testing.T) {
			r := perform(t, task(t), "http", `{"url":"`+c.url+`/text"`+c.params+`}`, nil)
			failedWith(t, r, c.kind, c.says)
			r.Fault.Address(fault.Shell)
			if r.Fault.Retryable || !slices.ContainsFunc(r.Fault.Suggestions, func(s string) bool { return strings.Contains(s, c.suggests) }) {
				t.Errorf("%+v", r.Fault)
			}
			if plainOutput(t, r, "error") != r.Fault.Message {
				t.Errorf("an error edge gets %s", r.Outputs)
			}
		})
	}
	if got := s.Requests(); len(got) > 0 {
		t.Errorf("requests came through: %+v", got)
	}
}
