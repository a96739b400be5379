package flow

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// Output is an output of a job.
type Output struct {
	Name     string `json:"name"`
	MIMEType string `json:"mimeType"`
	SHA256   string `json:"sha256"`
	Data     []byte `json:"-"`
}

// maxMedia is the most bytes of an output, which pflow-share limits to 10 MB, with its header.
const maxMedia = 11 << 20

// ReadOutput reads an output of a job. The error is a fault of pflow-share; its detail http_status is the status for HTTP.
func ReadOutput(ctx context.Context, s *suite.Programs, job, key string) (*Output, error) {
	if f := suite.CheckNUL("the output", "key", job+key); f != nil {
		return nil, f
	}
	printed := &suite.Head{Most: maxMedia}
	o, err := s.Run(ctx, suite.Command{Program: "pflow-share", Args: []string{"--quiet", "output", "--format=json", "--header", "--", job, key}, Stdout: printed})
	switch {
	case err != nil:
		return nil, err
	case o.Exit != 0:
		return nil, suite.Missing(printed.Kept.Bytes(), "pflow-share", o)
	case printed.Size > maxMedia:
		return nil, fault.New(fault.TooLarge, "The output has %d bytes, more than the limit of %d", printed.Size, maxMedia)
	}
	header, data, _ := bytes.Cut(printed.Kept.Bytes(), []byte("\n"))
	out := &Output{Data: data}
	if json.Unmarshal(header, out) != nil || out.SHA256 == "" {
		return nil, lost("output")
	}
	return out, nil
}

// Content returns the output as the content of a resource.
func (o *Output) Content() *mcpserver.Content {
	c := &mcpserver.Content{MIMEType: o.MIMEType, Private: true}
	kind, _, _ := strings.Cut(o.MIMEType, "/")
	if kind == "text" && utf8.Valid(o.Data) {
		c.Text = string(o.Data)
	} else if c.Blob = o.Data; c.Blob == nil {
		c.Blob = []byte{}
	}
	return c
}

// SweepJobs removes the jobs that have expired and returns the answer of pflow-share.
func SweepJobs(ctx context.Context, s *suite.Programs) (json.RawMessage, error) {
	o, err := s.Run(ctx, suite.Command{Program: "pflow-share", Args: []string{"--quiet", "cleanup", "--format=json"}})
	if err != nil {
		return nil, err
	}
	doc, bad := o.Document("pflow-share")
	if bad != nil {
		return nil, bad
	}
	if o.Exit != 0 {
		return nil, suite.Unread(doc, "pflow-share", o)
	}
	return doc, nil
}

// Status returns the HTTP status for a fault of ReadOutput.
func Status(err error) int {
	f := fault.From(err)
	if f == nil {
		return http.StatusOK
	}
	if n, ok := f.Details["http_status"].(float64); ok && n >= 400 && n < 600 {
		return int(n)
	}
	switch {
	case f.Type == fault.NotFound:
		return http.StatusNotFound
	case f.ExitStatus() == 2:
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}
