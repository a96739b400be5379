package runflags

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Answers are the flags that answer the questions of a run. They are fields of the grammar of a command.
type Answers struct {
	Approve     []string `help:"Answer the question of the run to go on from: yes, no, or one of its choices. NODE=ANSWER answers that of one node, also beforehand; repeatable." sep:"none" placeholder:"[NODE=]ANSWER"`
	AutoApprove []string `help:"Answer yes to the question of a node before it is asked; repeatable." sep:"none" placeholder:"NODE" complete:"node"`
	By          string   `help:"Say in the events that WHO gave the answers of --approve. It is for programs that pass answers on." placeholder:"WHO"`
	ByPerson    bool     `help:"Say that a person gave them, whom the program has asked. At a terminal that is always so."`
}

// Answer is an answer to the question of a node.
type Answer struct {
	Text string
	// By is who gave it, or the flag that has it.
	By string
	// Person is set if a person gave it.
	Person bool
}

// maxWho is the most bytes of --by.
const maxWho = 200

// Parse returns the answer to the open questions of the run to go on from, or "", and the answers by the paths of nodes.
func (f *Answers) Parse() (open string, byNode map[string]Answer, err error) {
	byNode = map[string]Answer{}
	if len(f.By) > maxWho || strings.ContainsFunc(f.By, unicode.IsControl) {
		return "", nil, fault.New(fault.Usage, "--by must be at most %d bytes on one line", maxWho)
	}
	for _, given := range f.Approve {
		node, answer, named := strings.Cut(given, "=")
		if !named || strings.HasPrefix(given, "{") { // the values of fields may have an equals sign
			named = false
			node, answer = "", given
		}
		switch {
		case answer == "" || named && node == "":
			return "", nil, fault.New(fault.Usage, "An answer to a question needs a text, and its node if that is named: yes, no, or one of the choices").
				Then(fault.Step{Do: fault.DoAnswerWith, Node: "NODE", AnyAnswer: true})
		case named:
			byNode[node] = Answer{answer, cmp.Or(f.By, "--approve"), f.ByPerson}
		case open != "" && open != answer:
			return "", nil, fault.New(fault.Usage, "--approve gives two answers: %q and %q", open, answer).Suggest("Name their nodes: --approve NODE=ANSWER")
		default:
			open = answer
		}
	}
	for _, node := range f.AutoApprove {
		if node == "" {
			return "", nil, fault.New(fault.Usage, "--auto-approve needs the name of a node")
		}
		if other, ok := byNode[node]; ok && other.Text != "yes" {
			return "", nil, fault.New(fault.Usage, "Node %s is answered %q by --approve, and yes by --auto-approve", node, other.Text).Suggest("Keep one of them")
		}
		byNode[node] = Answer{"yes", "--auto-approve", f.ByPerson}
	}
	return open, byNode, nil
}

// Arguments returns the answers that name a node as arguments for pflow-exec run.
func (f *Answers) Arguments() (args []string, err error) {
	open, _, err := f.Parse()
	if err != nil {
		return nil, err
	}
	if open != "" {
		return nil, fault.New(fault.Usage, "--approve %s names no node, and a new run has no question yet", fault.Truncate(open, 80)).
			Suggest("To answer beforehand, name the node: --approve NODE=%s", fault.Truncate(open, 80))
	}
	for _, given := range f.Approve {
		args = append(args, "--approve="+given)
	}
	for _, node := range f.AutoApprove {
		args = append(args, "--auto-approve="+node)
	}
	if f.By != "" && len(args) > 0 {
		args = append(args, "--by="+f.By)
	}
	if f.ByPerson && len(args) > 0 {
		args = append(args, "--by-person")
	}
	return args, nil
}
