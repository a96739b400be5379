package share

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/reader"
)

// arguments returns arguments of run_flow with a number of inputs.
func arguments(inputs int) string {
	var members []string
	for i := range inputs {
		members = append(members, fmt.Sprintf(`"i%d":"x"`, i))
	}
	return `{"token":"AbcdEfgh1234","inputs":{` + strings.Join(members, ",") + `}}`
}

func TestTheTextsOfRefusedArguments(t *testing.T) {
	const begin = `{"token":"AbcdEfgh1234","inputs":`
	long := strings.Repeat("é", 256)
	for _, c := range []struct{ arguments, message string }{
		{`{}`, "Token must be a string"},
		{`{"token":null}`, "Token must be a string"},
		{`{"token":["AbcdEfgh1234"]}`, "Token must be a string"},
		{`{"token":"AbcdEfgh123"}`, "Invalid token format. Expected 12 alphanumeric characters."},
		{`{"token":"AbcdEfgh12345"}`, "Invalid token format. Expected 12 alphanumeric characters."},
		{`{"token":"AbcdEfgh123\n"}`, "Invalid token format. Expected 12 alphanumeric characters."},
		{`{"token":"AbcdEfgh12é"}`, "Invalid token format. Expected 12 alphanumeric characters."},
		{`{"token":"' OR 1=1 --"}`, "Invalid token format. Expected 12 alphanumeric characters."},
		{`{"token":"AbcdEfgh1234"}`, ""},
		{`{"token":"AbcdEfgh1234","token":"AbcdEfgh1234"}`, `The name "token" stands twice in one object`},
		{`{"token":"AbcdEfgh1234","to\u006ben":"AbcdEfgh9999"}`, `The name "token" stands twice in one object`},
		{begin + `{"k":"a","k":"b"}}`, `The name "k" stands twice in one object`},
		{begin + `{"k":"a","\u006b":"b"}}`, `The name "k" stands twice in one object`},
		{begin + `null}`, ""},
		{begin + `{}}`, ""},
		{begin + `[]}`, "Inputs must be an object"},
		{begin + `"x"}`, "Inputs must be an object"},
		{arguments(50), ""},
		{arguments(51), "Too many inputs. Maximum 50 allowed."},
		{begin + `{"` + long + `":"x"}}`, ""},
		{begin + `{"` + long + `é":"x"}}`, `Input key too long: "` + strings.Repeat("é", 50) + `..." (max 256 chars)`},
		{begin + `{"k":7}}`, `Input value for "k" must be a string`},
		{begin + `{"k":null}}`, `Input value for "k" must be a string`},
		{begin + `{"k":{"a":"b"}}}`, `Input value for "k" must be a string`},
		{begin + `{"k":"` + strings.Repeat("é", 100_000) + `"}}`, ""},
		{begin + `{"k":"` + strings.Repeat("é", 100_001) + `"}}`, `Input value for "k" exceeds maximum length of 100000 characters`},
	} {
		r, err := ParseRequest(json.RawMessage(c.arguments))
		switch {
		case c.message == "" && (err != nil || r.Token != "AbcdEfgh1234"):
			t.Errorf("%.60s: %+v, %v", c.arguments, r, err)
		case c.message != "" && (err == nil || err.Error() != c.message || fault.From(err).Type != fault.Validation):
			t.Errorf("%.60s: %v", c.arguments, err)
		}
	}
	r, err := ParseRequest(json.RawMessage(begin + `{"a\u0062":"\u0063\"\n"}}`))
	if err != nil || r.Inputs["ab"] != "c\"\n" {
		t.Errorf("%q, %v", r.Inputs, err)
	}
}

func TestTheTextsOfRefusedJobs(t *testing.T) {
	const good = "job_AbcdEfgh12345678"
	for _, c := range []struct{ arguments, message string }{
		{`{}`, "Job ID must be a string"},
		{`{"job_id":7}`, "Job ID must be a string"},
		{`{"job_id":"job_short"}`, "Invalid job ID format"},
		{`{"job_id":"run_AbcdEfgh12345678"}`, "Invalid job ID format"},
		{`{"job_id":"job_../../../../../a"}`, "Invalid job ID format"},
		{`{"job_id":"` + good + `","job_id":"job_AbcdEfgh87654321"}`, `The name "job_id" stands twice in one object`},
		{`{"job_id":"` + good + `"}`, ""},
		{`{"job_id":"` + good + `","token":null}`, ""},
		{`{"job_id":"` + good + `","token":7}`, "Token must be a string"},
		{`{"job_id":"` + good + `","token":"x"}`, "Invalid token format. Expected 12 alphanumeric characters."},
		{`{"job_id":"` + good + `","token":"AbcdEfgh1234"}`, ""},
	} {
		id, _, err := ParseJob(json.RawMessage(c.arguments))
		if c.message == "" && (err != nil || id != good) || c.message != "" && (err == nil || err.Error() != c.message) {
			t.Errorf("%s: %s, %v", c.arguments, id, err)
		}
	}
}

func TestTheStateOfAJob(t *testing.T) {
	for status, want := range map[event.Status]State{
		reader.Queued: Pending, reader.Running: Running, event.Paused: Running, event.Completed: Completed, event.Degraded: Completed, event.Failed: Failed,
		event.Cancelled: Failed, event.TimedOut: Failed, event.Denied: Failed, reader.Interrupted: Failed,
	} {
		if got := stateOf(status, RunLimit-time.Millisecond); got != want {
			t.Errorf("%s is %s", status, got)
		}
	}
	for _, status := range reader.Statuses() {
		if got := stateOf(status, 0); got != Failed && status.Succeeded() != (got == Completed) {
			t.Errorf("%s is %s", status, got)
		}
	}
	if got := stateOf(event.Paused, RunLimit); got != Failed {
		t.Errorf("a run that has been paused for 5 minutes is %s", got)
	}
}

func TestTheSizeOfALongOutputIsRoundedUp(t *testing.T) {
	for size, want := range map[int]string{10_000_001: "10.1MB", 10_100_000: "10.1MB", 10_100_001: "10.2MB", 25_000_000: "25.0MB"} {
		if got := tooLarge(size).Message; got != "Output size ("+want+") exceeds maximum allowed (10MB)" {
			t.Errorf("%d: %s", size, got)
		}
	}
}

func TestNamesOfKeys(t *testing.T) {
	for name, ok := range map[string]bool{
		"OPENAI_API_KEY": true, "GITHUB_TOKEN": true, "_secret": true, "OPENAI_KEY": false, "PATH": false, "LD_PRELOAD": false, "ENCRYPTION_KEY": false,
		"CRON_SECRET": false, "PFLOW_API_KEY": false, "A=B_TOKEN": false, "A B_TOKEN": false, "": false, "1_TOKEN": false, strings.Repeat("A", 123) + "_TOKEN": false,
	} {
		if err := CheckKeyName(name); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
