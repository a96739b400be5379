package node

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// defaultMaxSize is the most bytes of a body that are held in memory if the node has no max_size.
const defaultMaxSize = 64 << 20

// receive reads the response: the body of a success goes to the output file, if the node has one; any other is returned as a
// value.
func (x *exchange) receive(ctx context.Context, resp *http.Response) (json.RawMessage, *fault.Fault) {
	defer func() { _ = resp.Body.Close() }()
	x.retryAfter = retryAfterOf(resp)
	wanted := x.in.MaxRedirects == 0 && isRedirect(resp.StatusCode)
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	if success && x.target != "" {
		return json.RawMessage("null"), x.save(ctx, resp)
	}
	value, head, err := x.readBody(resp)
	switch {
	case x.storeErr != nil:
		return nil, nil
	case err != nil && (success || wanted || ctx.Err() != nil):
		return json.RawMessage("null"), x.bodyFault(ctx, resp, err)
	case success || wanted:
		return value, nil
	case err != nil: // the status matters more
		value = json.RawMessage("null")
	}
	return value, x.statusFault(resp.StatusCode, head)
}

// readBody reads the body as a value: parsed JSON if its Content-Type says so, else text or bytes. head is the beginning of
// the body.
func (x *exchange) readBody(resp *http.Response) (value json.RawMessage, head []byte, err error) {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json") {
		return x.readJSON(resp)
	}
	c := x.task.capture()
	begin := &headBuffer{}
	if err := x.copyBody(io.MultiWriter(toUTF8(c, resp), begin), resp, x.maxSize()); err != nil {
		c.Discard()
		return nil, begin.text, err
	}
	x.outputs.ResponseIsBinary = c.Binary()
	if value, err = c.Value(false); err != nil {
		x.storeErr = err
	}
	return value, begin.text, nil
}

// readJSON reads a body that should be JSON. A body that is not becomes text or bytes.
func (x *exchange) readJSON(resp *http.Response) (value json.RawMessage, head []byte, err error) {
	received := spool{task: x.task}
	if err := x.copyBody(toUTF8(&received, resp), resp, x.maxSize()); err != nil {
		received.discard()
		return nil, head, err
	}
	body, err := received.content()
	if err != nil {
		x.storeErr = err
		return nil, nil, nil
	}
	text := bytes.TrimPrefix(body, []byte("\uFEFF"))
	head = bytes.Clone(text[:min(len(text), maxTail)])
	if utf8.Valid(text) {
		compact := bytes.NewBuffer(make([]byte, 0, len(text)))
		if json.Compact(compact, text) == nil && compact.Len() > 0 {
			return event.Escape(compact.Bytes()), head, nil
		}
	}
	x.outputs.ResponseIsBinary = !utf8.Valid(body)
	return event.String(body), head, nil
}

// maxSize returns the most bytes of a body that are held in memory.
func (x *exchange) maxSize() int64 {
	if x.in.MaxSize > 0 {
		return int64(x.in.MaxSize)
	}
	return defaultMaxSize
}

// errTooBig is the error of a body that is longer than allowed, or whose Content-Length is.
var errTooBig = errors.New("the body is too long")

// errNotGzip is the error of a body that is not gzip although its Content-Encoding says so.
var errNotGzip = errors.New("its Content-Encoding is gzip, but the body is not gzip")

// writeError is an error of the file that a body is written to.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// copyBody copies the unpacked body of at most limit bytes; a limit of 0 means no limit.
func (x *exchange) copyBody(to io.Writer, resp *http.Response, limit int64) error {
	from, packed, err := unpacked(resp)
	if err != nil {
		return err
	}
	total := int64(0)
	if !packed && x.request.method != http.MethodHead { // Content-Length after HEAD is that of a body that is not sent
		total = max(0, resp.ContentLength)
	}
	if limit > 0 && total > limit {
		return errTooBig
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if limit > 0 && int64(n) > limit-x.outputs.Size {
			return errTooBig
		}
		x.outputs.Size += int64(n)
		if x.target == "" {
			if _, over := x.task.count(n); over != nil {
				return over
			}
		}
		if _, failed := to.Write(buf[:n]); failed != nil {
			return &writeError{failed}
		}
		switch {
		case err == io.EOF:
			return nil
		case packed && isGzipError(err):
			return errNotGzip
		case err != nil:
			return err
		case n > 0 && x.task.Progress != nil:
			x.task.Progress(float64(x.outputs.Size), float64(total), "")
		}
	}
}

// unpacked returns the body without its gzip encoding. Other encodings are left as they are.
func unpacked(resp *http.Response) (body io.Reader, packed bool, err error) {
	encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	if encoding != "gzip" && encoding != "x-gzip" {
		return resp.Body, false, nil
	}
	in := bufio.NewReader(resp.Body)
	if _, err := in.Peek(1); err == io.EOF { // no body, as after HEAD
		return in, false, nil
	} else if err != nil {
		return nil, true, err
	}
	z, err := gzip.NewReader(in)
	if err != nil && isGzipError(err) {
		err = errNotGzip
	}
	return z, true, err
}

// isGzipError reports whether an error is about the packed bytes, not about their transmission.
func isGzipError(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)
}

// headBuffer keeps the first maxTail bytes that are written to it.
type headBuffer struct{ text []byte }

// Write never fails.
func (b *headBuffer) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), maxTail-len(b.text))]...)
	return len(p), nil
}

// bodyFault is the fault of a body that could not be read to its end.
func (x *exchange) bodyFault(ctx context.Context, resp *http.Response, err error) *fault.Fault {
	where := x.request.displayURL()
	limit := x.maxSize()
	if x.target != "" && x.in.MaxSize > 0 {
		limit = int64(x.in.MaxSize)
	}
	over, exceeded := errors.AsType[*fault.Fault](err)
	switch {
	case ctx.Err() != nil:
		return x.noResponseFault(ctx, err)
	case exceeded:
		return over
	case errors.Is(err, errTooBig):
		f := fault.New(fault.TooLarge, "The response of %s is longer than %d bytes, the limit here", where, limit)
		if x.target == "" {
			f.Suggest(`Give "output_file" to write the body to a file, and pass its path on`)
		}
		return f.Suggest(`Request less at once, or give a larger "max_size" (in bytes)`)
	case errors.Is(err, errNotGzip):
		return fault.New(fault.Protocol, "The response of %s cannot be unpacked: %v", where, err).
			Suggest(`Request it unpacked with the header "Accept-Encoding": "identity"`)
	case isMalformed(err.Error()):
		return fault.New(fault.Protocol, "The response of %s is not valid HTTP: %s", where, netMessage(err)).Suggest("Report it to the operator of the server")
	case errors.Is(err, io.ErrUnexpectedEOF):
		what := "in the middle"
		if n := resp.ContentLength; n >= 0 && resp.Header.Get("Content-Encoding") == "" {
			what = fmt.Sprintf("after %d of %d bytes", x.outputs.Size, n)
		}
		return x.unavailableFault("The response of %s ended %s: the connection was closed too early", where, what)
	}
	return x.unavailableFault("The response of %s broke off after %d bytes: %s", where, x.outputs.Size, netMessage(err))
}
