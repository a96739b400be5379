package completion

import (
	"fmt"
	"io"
	"strings"

	"github.com/pflow-suite/pflow/pkg/terminal/cells"
)

// Parse returns the command line that the arguments of a script describe. It reports false for an unknown shell.
func Parse(shell string, args []string) (Line, bool) {
	switch {
	case shell == "bash" && len(args) == 2:
		return bashLine(args[0], args[1]), true
	case (shell == "zsh" || shell == "fish") && len(args) > 0:
		return Line{Words: args[:len(args)-1], Current: args[len(args)-1]}, true
	}
	return Line{}, false
}

// Print writes an answer as the script of the shell reads it. home is the user's folder, for ~.
func Print(w io.Writer, shell string, line Line, a Answer, home string) error {
	a.settle(line.Current)
	var b strings.Builder
	switch shell {
	case "bash":
		bashAnswer(&b, line, a, home)
	case "zsh":
		zshAnswer(&b, a)
	case "fish":
		fishAnswer(&b, line, a, home)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// bashAnswer writes the words to insert, quoted, one a line, after a line with the option nospace or no option. Without words bash
// completes what it completes by itself: files and variables.
func bashAnswer(b *strings.Builder, line Line, a Answer, home string) {
	if line.bash.redirected || line.bash.expanded {
		return
	}
	rest := strings.TrimPrefix(line.Current, a.Prefix)
	list := a.Candidates
	if a.Files != NoFiles {
		if len(list) == 0 && a.Prefix == "" && a.Files == AllFiles {
			return
		}
		list = append(list, files(rest, home, a.Files)...)
	}
	var words []string
	options := ""
	for _, c := range list {
		if !strings.HasPrefix(c.Value, rest) {
			continue
		}
		value, ok := strings.CutPrefix(a.Prefix+c.Value, line.bash.before)
		if !ok {
			continue
		}
		if c.Open {
			options = "nospace"
		}
		if strings.HasPrefix(value, "~/") && line.bash.quote == 0 {
			words = append(words, "~/"+line.bash.quoted(value[2:]))
		} else {
			words = append(words, line.bash.quoted(value))
		}
	}
	_, _ = fmt.Fprintf(b, "%s\n", options)
	for _, word := range words {
		_, _ = fmt.Fprintln(b, word)
	}
}

// zshAnswer writes lines that begin with a letter: p, a pattern of the prefix; c, a candidate and what is shown of it; o, an open one; f
// and d, that files or folders are completed.
func zshAnswer(b *strings.Builder, a Answer) {
	for _, pattern := range zshPatterns(a.Prefix) {
		_, _ = fmt.Fprintf(b, "p%s\n", pattern)
	}
	width := 0
	for _, c := range a.Candidates {
		width = max(width, min(cells.Width(c.Value), maxColumn))
	}
	for _, c := range a.Candidates {
		kind := 'c'
		if c.Open {
			kind = 'o'
		}
		shown := c.Value
		if text := summary(c.Description); text != "" {
			shown += strings.Repeat(" ", max(width-cells.Width(c.Value), 0)) + "  -- " + text
		}
		_, _ = fmt.Fprintf(b, "%c%s\t%s\n", kind, c.Value, shown)
	}
	switch a.Files {
	case AllFiles:
		b.WriteString("f\n")
	case OnlyFolders:
		b.WriteString("d\n")
	}
}

// maxColumn is the most cells by which descriptions are moved to the right.
const maxColumn = 40

// zshPatterns returns the patterns that match the prefix of a word, one after the other.
func zshPatterns(prefix string) (patterns []string) {
	rest := prefix
	if _, after, ok := strings.Cut(rest, "="); ok {
		patterns = append(patterns, "*=")
		rest = after
	}
	if after, ok := strings.CutPrefix(rest, "@"); ok {
		patterns = append(patterns, "@")
		rest = after
	}
	for range strings.Count(rest, ",") {
		patterns = append(patterns, "*,")
	}
	return patterns
}

// fishAnswer writes a line that tells fish to complete files or not, and a line for each candidate: the whole word, a tab and the
// description. fish completes the file after = in a word, but not the one after @.
func fishAnswer(b *strings.Builder, line Line, a Answer, home string) {
	list := a.Candidates
	switch {
	case a.Files != NoFiles && strings.HasSuffix(a.Prefix, "@"):
		list = append(list, files(strings.TrimPrefix(line.Current, a.Prefix), home, a.Files)...)
		b.WriteString("words\n")
	case a.Files != NoFiles:
		b.WriteString("files\n")
	default:
		b.WriteString("words\n")
	}
	for _, c := range list {
		_, _ = fmt.Fprintf(b, "%s%s\t%s\n", a.Prefix, c.Value, summary(c.Description))
	}
}

// summary returns the first line of a description, shortened and without control characters.
func summary(description string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	return cells.Cut(cells.Clean(first), 80)
}
