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

// maxBody is the most bytes of a body that are taken into memory when the node does not say.
const maxBody = 64 << 20

// receive takes the response: a success into the file where there is one, else as a value.
func (x *exchange) receive(ctx context.Context, resp *http.Response) (json.RawMessage, *fault.Fault) {
	defer func() { _ = resp.Body.Close() }()
	x.refused = refusal(resp)
	asked := x.in.MaxRedirects == 0 && redirects(resp.StatusCode)
	success := resp.StatusCode >= 200 && resp.StatusCode < 300
	if success && x.target != "" {
		return json.RawMessage("null"), x.save(ctx, resp)
	}
	value, said, err := x.read(resp)
	switch {
	case x.unkept != nil:
		return nil, nil
	case err != nil && (success || asked || ctx.Err() != nil):
		return json.RawMessage("null"), x.incomplete(ctx, resp, err)
	case success || asked:
		return value, nil
	case err != nil: // what the status says is more than that
		value = json.RawMessage("null")
	}
	return value, x.statusFault(resp.StatusCode, said)
}

// read takes the body as a value: parsed JSON where its type says so, else text or bytes. said is how it begins.
func (x *exchange) read(resp *http.Response) (value json.RawMessage, said []byte, err error) {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); strings.HasSuffix(kind, "/json") || strings.HasSuffix(kind, "+json") {
		return x.readJSON(resp)
	}
	c := x.task.capture()
	c.Limit = 0 // max_size says it
	begin := &beginning{}
	if err := x.copyBody(io.MultiWriter(decoded(c, resp), begin), resp, x.limit()); err != nil {
		c.Discard()
		return nil, begin.text, err
	}
	x.answer.ResponseIsBinary = c.Binary()
	if value, err = c.Value(false); err != nil {
		x.unkept = err
	}
	return value, begin.text, nil
}

// readJSON takes a body that should be JSON, and one that is not as text or bytes.
func (x *exchange) readJSON(resp *http.Response) (value json.RawMessage, said []byte, err error) {
	var body bytes.Buffer
	if n := resp.ContentLength; n > 0 {
		body.Grow(int(min(n, 1<<20)) + bytes.MinRead) // and no more on the server's word alone
	}
	if err := x.copyBody(decoded(&body, resp), resp, x.limit()); err != nil {
		return nil, said, err
	}
	text := bytes.TrimPrefix(body.Bytes(), []byte("\uFEFF"))
	said = bytes.Clone(text[:min(len(text), maxSaid)])
	if utf8.Valid(text) {
		compact := bytes.NewBuffer(make([]byte, 0, len(text)))
		if json.Compact(compact, text) == nil && compact.Len() > 0 {
			return event.Escape(compact.Bytes()), said, nil
		}
	}
	x.answer.ResponseIsBinary = !utf8.Valid(body.Bytes())
	return event.String(body.Bytes()), said, nil
}

// limit is the most bytes of a body that are taken into memory.
func (x *exchange) limit() int64 {
	if x.in.MaxSize > 0 {
		return int64(x.in.MaxSize)
	}
	return maxBody
}

// errTooBig is the error of a body that is longer than it may be, or of a header that says so.
var errTooBig = errors.New("the body is too long")

// errUnpack is the error of a body that is not packed as its header says.
var errUnpack = errors.New("its Content-Encoding is gzip, and the body is not")

// writeError is an error of the place that a body goes to.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// copyBody copies the unpacked body, of at most limit bytes; 0 is no limit.
func (x *exchange) copyBody(to io.Writer, resp *http.Response, limit int64) error {
	from, packed, err := unpacked(resp)
	if err != nil {
		return err
	}
	total := int64(0)
	if !packed && x.call.method != http.MethodHead { // after which the length is that of a body that does not come
		total = max(0, resp.ContentLength)
	}
	if limit > 0 && total > limit {
		return errTooBig
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if limit > 0 && int64(n) > limit-x.answer.Size {
			return errTooBig
		}
		x.answer.Size += int64(n)
		if _, failed := to.Write(buf[:n]); failed != nil {
			return &writeError{failed}
		}
		switch {
		case err == io.EOF:
			return nil
		case packed && notGzip(err):
			return errUnpack
		case err != nil:
			return err
		case n > 0 && x.task.Progress != nil:
			x.task.Progress(float64(x.answer.Size), float64(total), "")
		}
	}
}

// unpacked is the body without the packing that its header tells of: gzip. Other packing stays as it is.
func unpacked(resp *http.Response) (body io.Reader, packed bool, err error) {
	encoding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	if encoding != "gzip" && encoding != "x-gzip" {
		return resp.Body, false, nil
	}
	in := bufio.NewReader(resp.Body)
	if _, err := in.Peek(1); err == io.EOF { // as after HEAD
		return in, false, nil
	} else if err != nil {
		return nil, true, err
	}
	z, err := gzip.NewReader(in)
	if err != nil && notGzip(err) {
		err = errUnpack
	}
	return z, true, err
}

// notGzip says whether an error is of the packed bytes themselves, and not of the way they came.
func notGzip(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum)
}

// beginning keeps the first bytes that are written to it.
type beginning struct{ text []byte }

// Write never fails.
func (b *beginning) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), maxSaid-len(b.text))]...)
	return len(p), nil
}

// incomplete is the fault of a body that cannot be had whole.
func (x *exchange) incomplete(ctx context.Context, resp *http.Response, err error) *fault.Fault {
	where := x.call.shown()
	limit := x.limit()
	if x.target != "" && x.in.MaxSize > 0 {
		limit = int64(x.in.MaxSize)
	}
	switch {
	case ctx.Err() != nil:
		return x.broken(ctx, err)
	case errors.Is(err, errTooBig):
		f := fault.New(fault.TooLarge, "The response of %s is longer than %d bytes, which is the most that is taken here", where, limit)
		if x.target == "" {
			f.Suggest(`Give "output_file", which takes the body without holding it in memory, and pass the file on`)
		}
		return f.Suggest(`Ask for less at once, or give a larger "max_size" (in bytes)`)
	case errors.Is(err, errUnpack):
		return fault.New(fault.Protocol, "The response of %s cannot be unpacked: %v", where, err).
			Suggest(`Ask for it as it is, with the header "Accept-Encoding": "identity"`)
	case malformed(err.Error()):
		return fault.New(fault.Protocol, "The response of %s is not sent as HTTP is: %s", where, plainNet(err)).Suggest("Tell who runs the server")
	case errors.Is(err, io.ErrUnexpectedEOF):
		what := "in the middle"
		if n := resp.ContentLength; n >= 0 && resp.Header.Get("Content-Encoding") == "" {
			what = fmt.Sprintf("after %d of %d bytes", x.answer.Size, n)
		}
		return x.unavailable("The response of %s ended %s: the connection was closed too early", where, what)
	}
	return x.unavailable("The response of %s broke off after %d bytes: %s", where, x.answer.Size, plainNet(err))
}
