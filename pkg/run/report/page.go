package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed" // the page's parts
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
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Parse(pageHTML))
})

// write fills the template and writes the page.
func write(w io.Writer, p *page) error {
	style := pageCSS + graph.Styles() + colors()
	p.Style, p.Script = template.CSS(style), template.JS(pageJS)
	p.Policy = fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; base-uri 'none'; form-action 'none'", hash(style), hash(pageJS))
	out := bufio.NewWriterSize(w, 64<<10)
	if err := parsed().Execute(out, p); err != nil {
		return err
	}
	return out.Flush()
}

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
	for _, dark := range []bool{false, true} {
		if dark {
			b.WriteString("@media (prefers-color-scheme:dark){\n")
		}
		for _, a := range alike {
			fill, stroke := graph.Colors(a.state, dark)
			fmt.Fprintf(&b, ".is-%s{--fill:%s;--stroke:%s}\n", a.class, fill, stroke)
		}
	}
	b.WriteString("}\n")
	return b.String()
}
