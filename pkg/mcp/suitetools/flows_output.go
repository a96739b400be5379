package suitetools

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/mcp/mcpserver"
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

// Output reads an output of a job. The error is a fault of pflow-share; its detail http_status is the status for HTTP.
func (s *Suite) Output(ctx context.Context, job, key string) (*Output, error) {
	if f := checkNUL("the output", "key", job+key); f != nil {
		return nil, f
	}
	printed := &head{most: maxMedia}
	o, err := s.run(ctx, command{program: "pflow-share", args: []string{"--quiet", "output", "--format=json", "--header", "--", job, key}, stdout: printed})
	switch {
	case err != nil:
		return nil, err
	case o.exit != 0:
		return nil, unread(printed.buf.Bytes(), "pflow-share", o)
	case printed.size > maxMedia:
		return nil, fault.New(fault.TooLarge, "The output has %d bytes, more than the limit of %d", printed.size, maxMedia)
	}
	header, data, _ := bytes.Cut(printed.buf.Bytes(), []byte("\n"))
	out := &Output{Data: data}
	if json.Unmarshal(header, out) != nil || out.SHA256 == "" {
		return nil, lost("output")
	}
	return out, nil
}

// content returns the output as the content of a resource.
func (o *Output) content() *mcpserver.Content {
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
func (s *Suite) SweepJobs(ctx context.Context) (json.RawMessage, error) {
	o, err := s.run(ctx, command{program: "pflow-share", args: []string{"--quiet", "cleanup", "--format=json"}})
	if err != nil {
		return nil, err
	}
	doc, bad := o.document("pflow-share")
	if bad != nil {
		return nil, bad
	}
	if o.exit != 0 {
		return nil, unread(doc, "pflow-share", o)
	}
	return doc, nil
}

// Status returns the HTTP status for a fault of Output.
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
