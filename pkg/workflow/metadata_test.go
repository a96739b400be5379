package workflow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWithMetadata(t *testing.T) {
	created, updated := time.Date(2026, 1, 2, 3, 4, 5, 600, time.UTC), time.Date(2026, 2, 3, 4, 5, 6, 0, time.FixedZone("", 3600))
	const body = "## Steps\n\n### a\n\nText.\n\n- type: echo\n"
	const dates = "created_at: \"2026-01-02T03:04:05.0000006Z\"\nupdated_at: \"2026-02-03T04:05:06+01:00\"\n"
	for name, c := range map[string]struct{ file, source, description, version, want string }{
		"bare": {"w.json", `{"nodes": [{"id": "a", "type": "echo"}]}`, "", "1.0.0",
			`{"nodes": [{"id": "a", "type": "echo"}],"created_at":"2026-01-02T03:04:05.0000006Z","updated_at":"2026-02-03T04:05:06+01:00","version":"1.0.0"}`},
		"laid out": {"w.json", "{\n  \"description\": \"old\",\n  \"nodes\": [{\"id\": \"a\", \"type\": \"echo\"}], \"created_at\": \"2020-01-01T00:00:00Z\"\n}\n", "new \"one\"", "",
			"{\n  \"description\": \"new \\\"one\\\"\",\n  \"nodes\": [{\"id\": \"a\", \"type\": \"echo\"}], \"created_at\": \"2026-01-02T03:04:05.0000006Z\",\n  \"updated_at\": \"2026-02-03T04:05:06+01:00\"\n}\n"},
		"wrapped": {"w.json", `{"description":"old","ir":{"nodes":[{"id":"a","type":"echo"}]}}`, "new", "",
			`{"description":"new","ir":{"nodes":[{"id":"a","type":"echo"}]},"created_at":"2026-01-02T03:04:05.0000006Z","updated_at":"2026-02-03T04:05:06+01:00"}`},
		"wrapped with one inside": {"w.json", `{"ir":{"nodes":[{"id":"a","type":"echo"}],"description":"old"}}`, "new", "",
			`{"ir":{"nodes":[{"id":"a","type":"echo"}],"description":"new"},"created_at":"2026-01-02T03:04:05.0000006Z","updated_at":"2026-02-03T04:05:06+01:00"}`},
		"no front matter":        {"w.md", "# T\n\nOld.\n\n" + body, "", "1.0.0", "---\n" + dates + "version: \"1.0.0\"\n---\n\n# T\n\nOld.\n\n" + body},
		"description of its own": {"w.md", "# T\n\n" + body, "New: one", "", "---\ndescription: \"New: one\"\n" + dates + "---\n\n# T\n\n" + body},
		"the same description":   {"w.md", "# T\n\nOld.\n\n" + body, "Old.", "", "---\n" + dates + "---\n\n# T\n\nOld.\n\n" + body},
		"front matter": {"w.md", "---\n# kept\nversion: 1.0.0\nupdated_at: 2020-01-01T00:00:00Z  # old\n\nlast_execution_params:\n  a: b\ncreated_at: >-\n  2020-01-01T00:00:00Z\nexecution_count: 3\n---\n# T\n\n" + body, "", "2.0.0",
			"---\n# kept\nversion: \"2.0.0\"\nupdated_at: \"2026-02-03T04:05:06+01:00\"\n\nlast_execution_params:\n  a: b\ncreated_at: \"2026-01-02T03:04:05.0000006Z\"\nexecution_count: 3\n---\n# T\n\n" + body},
		"empty front matter": {"w.md", "---\n---\n" + body, "", "", "---\n" + dates + "---\n" + body},
		"other line ends":    {"w.md", strings.ReplaceAll("---\nx: 1\n---\n"+body, "\n", "\r\n"), "", "", strings.ReplaceAll("---\nx: 1\n"+dates+"---\n"+body, "\n", "\r\n")},
	} {
		f, err := Parse(c.file, []byte(c.source))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := f.WithMetadata(c.description, created, updated, c.version)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s", name, err, cmp.Diff(c.want, string(got)))
			continue
		}
		again, err := Parse(c.file, got)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		description, version := f.Workflow.Description, f.Version
		if c.description != "" {
			description = c.description
		}
		if c.version != "" {
			version = c.version
		}
		if !again.CreatedAt.Equal(created) || !again.UpdatedAt.Equal(updated) || again.Version != version || again.Workflow.Description != description {
			t.Errorf("%s: %+v", name, again)
		}
		if !strings.HasPrefix(string(f.Source), c.source) {
			t.Errorf("%s: the file itself was changed", name)
		}
	}
	f, err := Parse("w.md", []byte("---\n{x: 1}\n---\n"+body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WithMetadata("", created, updated, ""); !strings.Contains(fmt.Sprint(err), "in braces") {
		t.Error(err)
	}
}
