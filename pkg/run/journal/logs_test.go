package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// say appends to the log of a node.
func say(t interface{ Fatal(args ...any) }, r *Writer, node, stream, text string) {
	log := r.Log(node, stream)
	if _, err := io.WriteString(log, text); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func these(nodes ...string) func() ([]string, error) {
	return func() ([]string, error) { return nodes, nil }
}

func TestLogsAreThoseThatThereAre(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	rec := find(t, h, r.ID)
	if logs, err := rec.Logs([]string{"a"}); err != nil || len(logs) != 0 {
		t.Errorf("%v %v", logs, err)
	}
	say(t, r, "a", "stderr", "x")
	say(t, r, "a", "stdout", "x")
	say(t, r, "sub[3]/in", "stdout", "x")
	logs, err := rec.Logs([]string{"sub[3]/in", "silent", "a"})
	if got := fmt.Sprint(logs); err != nil || got != "[{sub[3]/in stdout} {a stdout} {a stderr}]" {
		t.Errorf("%s %v", got, err)
	}
}

// pieces returns the pieces in which FollowLogs passes on a log.
func pieces(t interface{ Fatal(args ...any) }, rec *Reader) (list []string) {
	err := rec.FollowLogs(context.Background(), false, these("n"), func(_ Log, piece []byte) error {
		list = append(list, string(piece))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestALogComesInLines(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, c := range map[string]struct {
		text string
		want []int // lengths
	}{
		"nothing":                {"", nil},
		"a line":                 {"line\n", []int{5}},
		"lines":                  {"a\n\nb\n", []int{2, 1, 2}},
		"no newline at the end":  {"a\nb", []int{2, 1}},
		"as long as a piece":     {x(maxPiece-1) + "\nb", []int{maxPiece, 1}},
		"longer by the newline":  {x(maxPiece) + "\n", []int{maxPiece, 1}},
		"a long line":            {"a\n" + x(3*maxPiece) + "\nb\n", []int{2, maxPiece, maxPiece, maxPiece, 1, 2}},
		"a character at the cut": {x(maxPiece-1) + "é" + x(10) + "\n", []int{maxPiece - 1, 13}},
		"a long character":       {x(maxPiece-3) + "😀" + x(10), []int{maxPiece - 3, 14}},
		"bytes at the cut":       {x(maxPiece-2) + "\x80\x80\x80\x80" + x(10), []int{maxPiece, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			h := tempHome(t)
			r := create(t, h)
			say(t, r, "n", "stdout", c.text)
			got := pieces(t, find(t, h, r.ID))
			var lengths []int
			for _, p := range got {
				lengths = append(lengths, len(p))
			}
			if fmt.Sprint(lengths) != fmt.Sprint(c.want) || strings.Join(got, "") != c.text {
				t.Errorf("pieces of %d bytes, want %d", lengths, c.want)
			}
		})
	}
}

// The pieces together are the log. None is too long or cuts a character, and only a line that is too long is cut.
func TestThePiecesOfALogAreTheLog(t *testing.T) {
	h := tempHome(t)
	rapid.Check(t, func(t *rapid.T) {
		r, err := Create(h, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.publish(); err != nil {
			t.Fatal(err)
		}
		text := ""
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			part := rapid.SampledFrom([]string{"x", "é", "😀", "\n", "\xff", "line\n"}).Draw(t, "part")
			text += strings.Repeat(part, rapid.SampledFrom([]int{1, 2, 3, 5000, maxPiece / 3}).Draw(t, "times"))
		}
		say(t, r, "n", "stderr", text)
		rec, err := Find(h, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		valid := utf8.ValidString(text)
		var whole bytes.Buffer
		list := pieces(t, rec)
		for i, p := range list {
			whole.WriteString(p)
			if len(p) > maxPiece || p == "" || valid && !utf8.ValidString(p) || strings.Contains(p[:len(p)-1], "\n") {
				t.Fatalf("piece %d of %d bytes", i, len(p))
			}
			if i < len(list)-1 && !strings.HasSuffix(p, "\n") && len(p) < maxPiece-3 {
				t.Fatalf("piece %d is cut after %d bytes", i, len(p))
			}
		}
		if whole.String() != text {
			t.Fatal("the pieces are not the log")
		}
	})
}

func TestLogsAreFollowedUntilTheRunEnds(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	say(t, r, "a", "stdout", "first\nsec")
	nodes := []string{"a"}
	var got []string
	err := find(t, h, r.ID).FollowLogs(t.Context(), true, func() ([]string, error) { return nodes, nil }, func(l Log, piece []byte) error {
		got = append(got, l.Node+" "+l.Stream+" "+string(piece))
		switch string(piece) {
		case "first\n": // while it is read
			say(t, r, "a", "stdout", "ond\n")
			say(t, r, "b", "stderr", "from b\n")
			nodes = append(nodes, "b")
		case "from b\n":
			say(t, r, "a", "stdout", "the end")
			r.Close()
		}
		return nil
	})
	want := []string{"a stdout first\n", "a stdout second\n", "b stderr from b\n", "a stdout the end"}
	if err != nil || strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("%q, want %q; %v", got, want, err)
	}
}

func TestFollowingLogsEndsEarly(t *testing.T) {
	h := tempHome(t)
	r := create(t, h)
	say(t, r, "a", "stdout", "line\n")
	rec := find(t, h, r.ID)
	broken := errors.New("broken")
	if err := rec.FollowLogs(t.Context(), true, these("a"), func(Log, []byte) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("each fails: %v", err)
	}
	if err := rec.FollowLogs(t.Context(), true, func() ([]string, error) { return nil, broken }, nil); !errors.Is(err, broken) {
		t.Errorf("the nodes are not known: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err := rec.FollowLogs(ctx, true, these("a"), func(Log, []byte) error { cancel(broken); return nil })
	if !errors.Is(err, broken) {
		t.Errorf("the context ends: %v", err)
	}
}
