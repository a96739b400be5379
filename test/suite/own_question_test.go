package suite

import (
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// agentThatWasDenied speaks as claude does: first it was denied a command, and in the resumed session it says what it was given.
const agentThatWasDenied = `echo called >> calls
said=$(cat); allowed=
for arg; do
  case $arg in
  --resume=*) said="resumed ${arg#*=}" ;;
  --settings=*) allowed=$(printf %s "${arg#*=}" | sed 's/"/\\"/g') ;;
  esac
done
denials='[{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"make deploy"}}]'
[ -z "$allowed" ] || denials='[]'
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"s-1","num_turns":1,"result":"%s","permission_denials":%s}\n' "$said $allowed" "$denials"
`

const deniedAgent = `{"nodes":[{"id":"do","type":"agent","params":{"prompt":"Deploy it","command":"sh agent.sh"}},
	{"id":"after","type":"shell","params":{"command":"echo \"${do.result} ${do.denied}\""}}],"edges":[{"from":"do","to":"after"}],"outputs":{"said":{"source":"${after.stdout}"}}}`

func TestADeniedAgentAsksAPerson(t *testing.T) {
	t.Parallel()
	for answer, c := range map[string]struct {
		said  string
		exit  int
		calls int
	}{
		"yes":  {`resumed s-1 {"permissions":{"allow":["Bash(make deploy)"]}} []`, 0, 2},
		"skip": {`Deploy it  ["Bash"]`, 0, 1},
		"no":   {"", 3, 1},
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("agent.sh", agentThatWasDenied)
			p.write("w.json", deniedAgent)
			o := p.run("pflow-exec", "run", "w.json", "--format", "json")
			if f := gjson.Get(o.stdout, "error"); o.exit != 4 || f.Get("node").Str != "do" || !strings.Contains(f.Get("message").Str, "make deploy") || !strings.Contains(f.Get("message").Str, "Bash(make deploy)") {
				t.Fatal(o)
			}
			o = p.run("pflow-exec", "resume", "last", "--approve", "do="+answer, "--format", "json")
			if o.exit != c.exit || gjson.Get(o.stdout, "outputs.said").Str != c.said || strings.Count(p.read("calls"), "called") != c.calls {
				t.Errorf("%d calls: %s", strings.Count(p.read("calls"), "called"), o)
			}
		})
	}
}

// asksOnce is a node type of one's own that asks, and is run again with the answer and its state.
const asksOnce = `#!/bin/sh
if [ "$1" = --describe ]; then
    echo '{"interface":{"description":"Ask once","params":[{"name":"what","type":"str","required":true}],"outputs":[{"name":"said","type":"str"}]}}'
    exit
fi
request=$(cat)
echo run >> runs
case $request in
*'"answer":'*) printf '{"said":"%s"}\n' "$(printf %s "$request" | sed 's/.*"answer":"\([^"]*\)".*"state":{"n":\([0-9]*\)}.*/\1 \2/')" ;;
*) echo '{"$ask":{"question":"Which colour?","choices":["red"],"any_answer":true,"state":{"n":7}}}' ;;
esac
`

func TestAProgramAsksAPerson(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.Chmod(p.write("home/nodes/pflow-node-once", asksOnce), 0o700); err != nil {
		t.Fatal(err)
	}
	p.must("pflow-sync", "nodes")
	p.write("w.json", `{"nodes":[{"id":"ask","type":"once","params":{"what":"x"}}],"outputs":{"said":{"source":"${ask.said}"}}}`)
	if o := p.run("pflow-exec", "run", "w.json", "--approve", "ask=red"); o.exit != 2 { // it is not known to ask
		t.Error(o)
	}
	if o := p.run("pflow-exec", "run", "w.json"); o.exit != 4 {
		t.Fatal(o)
	}
	if shown := p.must("pflow-exec", "show", "last", "ask"); gjson.Get(shown, "question").Str != "Which colour?" || gjson.Get(shown, "state").Str != "waiting" {
		t.Errorf("show prints %s", shown)
	}
	if o := p.run("pflow-exec", "resume", "last"); o.exit != 4 { // nobody is there yet
		t.Error(o)
	}
	if said := p.must("pflow-exec", "resume", "last", "--approve", "no, blue", "--print", "said"); said != "no, blue 7\n" || p.read("runs") != "run\nrun\n" {
		t.Errorf("said %q, runs %q", said, p.read("runs"))
	}
}
