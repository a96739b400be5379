package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func fakeSpec(t *testing.T, mode string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Name: "fake", Server: Server{Command: self, Env: map[string]string{"FAKE_SERVER": mode}}, Env: []string{
		"PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0",
	}}
}

func connect(t *testing.T, mode string) *Session {
	t.Helper()
	s, err := Connect(t.Context(), fakeSpec(t, mode))
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func asFault(t *testing.T, err error) *fault.Fault {
	t.Helper()
	f, ok := errors.AsType[*fault.Fault](err)
	if !ok {
		t.Fatalf("error is %v (%T), want a fault", err, err)
	}
	return f
}

// patience is the longest time for which a test waits. It bounds tests that hang, not what is slow.
const patience = 5 * time.Minute

// until waits for a condition.
func until(t *testing.T, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s have passed before %s", patience, what)
		}
	}
}

func TestToolsOfAllPages(t *testing.T) {
	tools, err := connect(t, "sdk").Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"blocks", "count", "echo", "fail", "large", "wait"}, names); diff != "" {
		t.Error(diff)
	}
	if got := string(tools[2].InputSchema); !strings.Contains(got, `{"zebra":{"type":"integer"},"apple"`) {
		t.Errorf("the schema's keys lost their order: %s", got)
	}
}

func TestCall(t *testing.T) {
	tests := []struct{ mode, tool, args, want string }{
		{"sdk", "echo", `{"zebra":9007199254740993,"apple":"é"}`, `{"zebra":9007199254740993,"apple":"é"}`},
		{"sdk", "blocks", ``, `[{"a": 1},{"type":"image","mimeType":"image/png","data":"eA=="}]`},
		{"plain", "numbers", ``, `{"id":9007199254740993,"price":1.10,"huge":123456789012345678901234567890}`},
		{"plain", "noise", ``, `"through"`},
		{"modern", "numbers", ``, `{"id":9007199254740993,"price":1.10,"huge":123456789012345678901234567890}`},
		{"banner", "noise", ``, `"through"`},
		{"strict", "noise", ``, `"through"`},
		{"mute", "noise", ``, `"through"`},
	}
	for _, tt := range tests {
		t.Run(tt.mode+" "+tt.tool, func(t *testing.T) {
			answer, err := connect(t, tt.mode).Call(t.Context(), tt.tool, json.RawMessage(tt.args), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(answer.Result(nil))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallOfALargeResult(t *testing.T) {
	answer, err := connect(t, "plain").Call(t.Context(), "large", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(answer.Result(nil)); got != 20<<20+2 {
		t.Errorf("the result has %d bytes", got)
	}
}

func TestToolThatFails(t *testing.T) {
	answer, err := connect(t, "sdk").Call(t.Context(), "fail", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	f := answer.Failure("fake", "fail")
	if f == nil || f.Type != fault.Execution || !strings.Contains(f.Message, "no such repository") {
		t.Errorf("failure is %+v", f)
	}
}

func TestProgressIsCompleteAndInOrder(t *testing.T) {
	s := connect(t, "sdk")
	for range 20 {
		var got []float64
		if _, err := s.Call(t.Context(), "count", nil, func(done, total float64, message string) {
			if total != 20 || message != "step "+strconv.Itoa(int(done)) {
				t.Errorf("progress %v of %v, %q", done, total, message)
			}
			got = append(got, done)
		}); err != nil {
			t.Fatal(err)
		}
		if len(got) != 20 || !slices.IsSorted(got) {
			t.Fatalf("progress %v", got)
		}
	}
}

func TestCallFaults(t *testing.T) {
	tests := []struct {
		mode, tool string
		typ        fault.Type
		message    string
	}{
		{"plain", "garbage", fault.Protocol, "Invalid JSON response from server"},
		{"plain", "exit", fault.Execution, "MCP server process terminated unexpectedly: panic: out of cheese"},
		{"plain", "nowhere", fault.NotFound, "Tool nowhere not found on server fake"},
		{"plain", "told", fault.NotFound, "Tool told not found on server fake"},
		{"plain", "get", fault.Protocol, "Invalid params: missing id"},
		{"plain", "method", fault.Protocol, "Method not found"},
		{"sdk", "nowhere", fault.NotFound, "Tool nowhere not found on server fake"},
		{"unlisted", "nowhere", fault.Protocol, "Invalid params: Unknown tool: nowhere"},
	}
	for _, tt := range tests {
		t.Run(tt.mode+" "+tt.tool, func(t *testing.T) {
			t.Parallel()
			s := connect(t, tt.mode)
			_, err := s.Call(t.Context(), tt.tool, nil, nil)
			f := asFault(t, err)
			if f.Type != tt.typ || f.Message != tt.message || f.Retryable {
				t.Errorf("fault is %s %q (retryable %v), want %s %q", f.Type, f.Message, f.Retryable, tt.typ, tt.message)
			}
			if tt.tool == "exit" {
				if got, _ := f.Details["stderr"].(string); !strings.HasPrefix(got, "panic: out of cheese") {
					t.Errorf("stderr in the details is %q", got)
				}
				if !s.Dead() {
					t.Error("the session does not know that it is dead")
				}
				_, err := s.Call(t.Context(), "numbers", nil, nil)
				if got := asFault(t, err).Message; got != tt.message {
					t.Errorf("a later call fails with %q", got)
				}
			}
		})
	}
}

func TestCallTimesOut(t *testing.T) {
	s := connect(t, "polite")
	hang := func(limit time.Duration, want string) {
		t.Helper()
		_, err := s.Do(t.Context(), Request{Tool: "hang", Limit: limit})
		if f := asFault(t, err); f.Type != fault.Timeout || f.Message != "MCP tool timed out after "+want {
			t.Errorf("after %v: fault is %s %q", limit, f.Type, f.Message)
		}
	}
	other, giveUp := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.Do(other, Request{Tool: "hang", Limit: time.Hour})
		ended <- err
	}()
	until(t, "the other call began", func() bool { return s.inFlight.Load() == 1 })
	hang(time.Second/20, "0.05 seconds")
	if s.Dead() {
		t.Error("the server was taken down under another call")
	}
	enough := errors.New("the other call is no more needed")
	giveUp(enough)
	if err := <-ended; !errors.Is(err, enough) {
		t.Errorf("the other call ended with %v", err)
	}
	hang(time.Second, "1 second")
	gone(t, s.child.Pid())
	until(t, "the server reports its SIGTERM", func() bool { return strings.HasPrefix(s.child.StderrTail(), "terminated") })
}

func TestCallIsCancelled(t *testing.T) {
	cause := errors.New("the user has had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := connect(t, "sdk")
	if _, err := s.Call(ctx, "wait", nil, func(float64, float64, string) { cancel(cause) }); !errors.Is(err, cause) {
		t.Errorf("error is %v, want the context's cause", err)
	}
}

func TestCallToAServerThatDoesNotRead(t *testing.T) {
	s := connect(t, "sdk")
	if err := syscall.Kill(s.child.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	big := json.RawMessage(`{"apple":"` + strings.Repeat("x", 128<<10) + `"}`) // more than a pipe holds
	_, err := s.Do(t.Context(), Request{Tool: "echo", Arguments: big, Limit: time.Second / 2})
	if f := asFault(t, err); f.Type != fault.Timeout {
		t.Errorf("fault is %s %q", f.Type, f.Message)
	}
	if !s.Dead() {
		t.Error("half a message was written, and the session is taken for alive")
	}
	if err := syscall.Kill(s.child.Pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

func TestConnectFaults(t *testing.T) {
	tests := []struct {
		mode    string
		typ     fault.Type
		message string
		stderr  string
	}{
		{"silent", fault.Timeout, "MCP server fake did not start within 0.5 seconds", ""},
		{"future", fault.Protocol, "MCP protocol version not supported", ""},
		{"garbage", fault.Protocol, "Invalid JSON response from server", ""},
		{"crash", fault.Execution, "MCP server process terminated unexpectedly: config.toml: no such file", "config.toml: no such file"},
		{"refusing", fault.Protocol, "MCP handshake with server fake failed: out of licences", ""},
	}
	for _, tt := range tests {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			spec := fakeSpec(t, tt.mode)
			if tt.mode == "silent" {
				spec.StartTimeout = time.Second / 2
			}
			_, err := Connect(t.Context(), spec)
			f := asFault(t, err)
			if f.Type != tt.typ || f.Message != tt.message {
				t.Errorf("fault is %s %q, want %s %q", f.Type, f.Message, tt.typ, tt.message)
			}
			if got, _ := f.Details["stderr"].(string); !strings.HasPrefix(got, tt.stderr) {
				t.Errorf("stderr in the details is %q, want %q", got, tt.stderr)
			}
		})
	}
	_, err := Connect(t.Context(), Spec{Name: "x", Server: Server{Command: "no-such-command-here"}})
	if f := asFault(t, err); f.Type != fault.NotFound || f.Message != "Command not found: no-such-command-here" {
		t.Errorf("fault is %s %q", f.Type, f.Message)
	}
}

func TestConnectIsCancelled(t *testing.T) {
	cause := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := Connect(ctx, fakeSpec(t, "silent")); !errors.Is(err, cause) {
		t.Errorf("error is %v, want the context's cause", err)
	}
}

func TestToolsFaults(t *testing.T) {
	_, err := connect(t, "circle").Tools(t.Context())
	if f := asFault(t, err); f.Type != fault.Protocol || !strings.Contains(f.Message, `page "again"`) {
		t.Errorf("fault is %s %q", f.Type, f.Message)
	}
}
