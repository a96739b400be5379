package node

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestAProgramAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		printed string
		want    *Question
		outputs string
	}{
		"by default yes or no": {`{"a":1,"$ask":{"question":"May I?"}}`, &Question{Text: "May I?", Choices: []string{"yes", "no"}, State: []byte("null")}, `{"a":1}`},
		"with choices":         {`{"$ask":{"question":"Which?","choices":["a","b"],"state":{"n":[1.50]}}}`, &Question{Text: "Which?", Choices: []string{"a", "b"}, State: []byte(`{"n":[1.50]}`)}, `{}`},
		"any answer":           {`{"$ask":{"question":"Which?","any_answer":true}}`, &Question{Text: "Which?", AnyAnswer: true, State: []byte("null")}, `{}`},
		"nothing":              {`{"$ask":{}}`, nil, ""},
		"no object":            {`{"$ask":"May I?"}`, nil, ""},
		"a choice twice":       {`{"$ask":{"question":"Which?","choices":["a","a"]}}`, nil, ""},
		"a choice of no text":  {`{"$ask":{"question":"Which?","choices":[1]}}`, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := performProgram(t, task(t), ownProgram(t, "#!/bin/sh\ncat <<'END'\n"+c.printed+"\nEND\n"), `{}`)
			if c.want == nil {
				if r.Fault == nil || r.Fault.Type != fault.Protocol {
					t.Errorf("%+v", r.Fault)
				}
				return
			}
			if d := cmp.Diff(c.want, r.Ask); d != "" || r.Fault != nil || string(r.Outputs) != c.outputs {
				t.Errorf("%s %s %v", d, r.Outputs, r.Fault)
			}
		})
	}
}

func TestAProgramGetsTheAnswer(t *testing.T) {
	t.Parallel()
	on := task(t)
	on.Answer = &Answer{Text: `"no", or`, State: []byte(`{"n":1}`)}
	r := performProgram(t, on, ownProgram(t, "#!/bin/sh\ncat\n"), `{}`)
	if want := `{"v":1,"params":{"count":3},"answer":"\"no\", or","state":{"n":1}}`; string(r.Outputs) != want {
		t.Errorf("%s", r.Outputs)
	}
}
