package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the parts of the shells
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/pflow-suite/pflow/pkg/event/history"
	"github.com/pflow-suite/pflow/pkg/workflow/graph"
)

var (
	//go:embed fragment.html
	fragmentHTML string
	//go:embed page.html
	pageHTML string
	//go:embed app.html
	appHTML string
	//go:embed fragment.css
	fragmentCSS string
	//go:embed shell.css
	shellCSS string
	//go:embed view.js
	viewJS string
	//go:embed live.js
	liveJS string
	//go:embed app.js
	appJS string
)

var templates = sync.OnceValue(func() *template.Template {
	t := template.Must(template.New("shells").Parse(fragmentHTML))
	template.Must(t.New("page").Parse(pageHTML))
	return template.Must(t.New("app").Parse(appHTML))
})

// shell is the data of a page around a fragment.
type shell struct {
	*fragment
	Policy string
	Style  template.CSS
	Script template.JS
	// Tools are the tools of the server that an App may call, separated by spaces.
	Tools string
}

// newShell returns a page that allows nothing but its own style and script.
func newShell(f *fragment, script string) *shell {
	style := shellCSS + Style()
	return &shell{
		fragment: f, Style: template.CSS(style), Script: template.JS(script),
		Policy: fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", hash(style), hash(script)),
	}
}

// writePage writes the page of a run.
func writePage(w io.Writer, f *fragment) error {
	return execute(w, "page", newShell(f, viewJS))
}

// WriteApp writes the page of the MCP App, which holds no run: it fetches the fragments of a run through its host. Tools are the tools of
// the server that its buttons may call: execute, run_resume and run_cancel.
func WriteApp(w io.Writer, tools []string) error {
	s := newShell(nil, Script()+appJS)
	s.Tools = strings.Join(tools, " ")
	return execute(w, "app", s)
}

func execute(w io.Writer, name string, s *shell) error {
	out := bufio.NewWriterSize(w, 64<<10)
	if err := templates().ExecuteTemplate(out, name, s); err != nil {
		return err
	}
	return out.Flush()
}

// Style returns the CSS rules of fragments. They apply to the element of class run only, and to the colour scheme that the property
// color-scheme of the page has.
func Style() string { return fragmentCSS + graph.PageStyles() + colors() }

// Script returns the script of pages that show fragments. It has two objects. In view, refresh applies to a new fragment what a reader has
// chosen, and reveal opens the element with an id. In live, merge(old, article) changes a fragment in place, and answerOf(button) returns
// the answer that a button stands for, or null if a field is not filled in. The script does nothing without a fragment.
func Script() string { return viewJS + liveJS }

// hash returns the source expression of a content security policy that allows this text.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// colors returns CSS by which everything shown in a state has the state's colours in the graph.
func colors() string {
	alike := []struct {
		class string
		state history.State
	}{
		{"completed", history.Completed}, {"reused", history.Reused}, {"failed", history.Failed}, {"handled", history.Failed}, {tried, history.Failed},
		{broken, history.Failed}, {"running", history.Running}, {"waiting", history.Waiting}, {asked, history.Waiting}, {"skipped", history.Skipped},
		{"degraded", history.Running}, {"cancelled", history.Cancelled}, {"stopped", history.Cancelled}, {"pending", ""},
	}
	var b strings.Builder
	for _, a := range alike {
		fill, stroke := graph.Colors(a.state)
		fmt.Fprintf(&b, ".run .is-%[1]s,.run.is-%[1]s{--fill:%[2]s;--stroke:%[3]s}\n", a.class, fill, stroke)
	}
	return b.String()
}
