package plan

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/workflow"
)

func TestRetries(t *testing.T) {
	three := &workflow.Node{Retry: &workflow.Retry{Max: 3, Wait: 1e9, MaxWait: 3e9, Backoff: "exponential"}}
	codes := &workflow.Node{Retry: &workflow.Retry{Max: 5, OnlyExitCodes: []int{75}}}
	of := &workflow.Node{Batch: &workflow.Batch{MaxRetries: 2}}
	for _, c := range []struct {
		name    string
		node    *workflow.Node
		attempt int
		fault   *fault.Fault
		want    bool
	}{
		{"without a policy", &workflow.Node{}, 1, fault.New(fault.Execution, "x"), false},
		{"the first failure", three, 1, fault.New(fault.Execution, "x"), true},
		{"the last retry failed", three, 3, fault.New(fault.Execution, "x"), false},
		{"another attempt would be refused too", three, 1, fault.New(fault.Template, "x"), false},
		{"after a timeout", three, 1, fault.New(fault.Timeout, "x"), true},
		{"an exit status that is named", codes, 1, fault.New(fault.Execution, "x").Detail("exit_code", 75), true},
		{"another exit status", codes, 1, fault.New(fault.Execution, "x").Detail("exit_code", 1), false},
		{"a failure without exit status", codes, 1, fault.New(fault.Unavailable, "x"), false},
		{"the batch's attempts", of, 1, fault.New(fault.Execution, "x"), true},
		{"used up", of, 2, fault.New(fault.Execution, "x"), false},
	} {
		if got := Retries(c.node, c.attempt, c.fault) != nil; got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	var waits []float64
	for attempt := range 4 {
		waits = append(waits, Delay(three.Retry, attempt+1).Seconds())
	}
	if fmt.Sprint(waits) != "[1 2 3 3]" {
		t.Errorf("waits %v", waits)
	}
}

func TestJittered(t *testing.T) {
	for _, c := range []struct {
		jitter, draw float64
		want         time.Duration
	}{{0, 0, 10}, {0, 1, 10}, {0.5, 0, 5}, {0.5, 0.5, 10}, {0.5, 1, 15}, {1, 0, 0}, {1, 1, 18}} { // never more than the longest wait
		if got := Jittered(&workflow.Retry{Jitter: c.jitter, MaxWait: 18}, 10, c.draw); got != c.want {
			t.Errorf("jitter %v, draw %v: %d, want %d", c.jitter, c.draw, got, c.want)
		}
	}
}

func TestAgain(t *testing.T) {
	while, until := &workflow.Loop{While: "x", MaxIterations: json.RawMessage("3")}, &workflow.Loop{Until: "x", MaxIterations: json.RawMessage("3")}
	for _, c := range []struct {
		loop      *workflow.Loop
		iteration int
		holds     bool
		want      bool
	}{{while, 1, true, true}, {while, 1, false, false}, {while, 3, true, false}, {until, 1, false, true}, {until, 2, true, false}, {until, 3, false, false}} {
		if got := Again(c.loop, c.iteration, 3, c.holds); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
