package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/tidwall/gjson"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/pflow-suite/pflow/pkg/fault"
)

const (
	// maxAnswer is the most bytes of an answer that are read.
	maxAnswer = 64 << 10
	// maxPause is the longest pause between two attempts, except one that the collector asks for.
	maxPause = 5 * time.Second
)

// deliver sends a request. It tries again as long as the failure may pass: the collector cannot be reached, or answers 429, 502, 503 or
// 504 (OTLP, "Retryable Response Codes").
func (s *Sender) deliver(ctx context.Context, r request) {
	body := r.body
	if s.config.Gzip {
		body = compress(body)
	}
	pauses := &backoff.ExponentialBackOff{InitialInterval: 500 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 1.5, MaxInterval: maxPause}
	rejected, err := backoff.Retry(ctx, func() (int64, error) {
		rejected, err := s.post(ctx, body)
		if err != nil {
			s.failed(asFault(err))
		}
		return rejected, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
	if err != nil {
		return // recorded above
	}
	s.succeeded.Store(time.Now().UnixNano())
	s.delivered.Add(int64(r.items) - min(max(rejected, 0), int64(r.items)))
}

// asFault returns the fault in an error of post.
func asFault(err error) error {
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f
	}
	return err
}

// later is a failure after which the collector asks for a pause.
type later struct {
	*backoff.RetryAfterError
	why error
}

func (l *later) Unwrap() []error { return []error{l.RetryAfterError, l.why} }
func (l *later) Error() string   { return l.why.Error() }

// post sends a request once. It returns how many items the collector refused for good. The error is a backoff.PermanentError if the
// collector must not be asked again.
func (s *Sender) post(ctx context.Context, body []byte) (rejected int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.URL, bytes.NewReader(body))
	if err != nil {
		return 0, backoff.Permanent(fault.New(fault.Usage, "Cannot ask %s: %v", s.place(), err))
	}
	req.Header = s.config.Headers.Clone()
	req.Header.Set("Content-Type", map[bool]string{true: "application/json", false: "application/x-protobuf"}[s.config.JSON])
	if s.config.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	answer, err := s.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, fault.New(fault.Timeout, "The collector at %s did not answer within %v", s.place(), s.config.Timeout)
		}
		if cause, ok := errors.AsType[*url.Error](err); ok {
			err = cause.Err // without the URL, which may hold a secret
		}
		return 0, fault.New(fault.Unavailable, "The collector at %s cannot be reached: %v", s.place(), err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case answer.StatusCode/100 == 2:
		return s.partial(text, answer.Header.Get("Content-Type")), nil // what cannot be read of the answer changes nothing
	case err != nil && answer.StatusCode == http.StatusOK:
		return 0, nil
	}
	failed := fault.New(fault.Unavailable, "The collector at %s answered %s", s.place(), answer.Status)
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if pause, ok := retryAfter(answer.Header.Get("Retry-After"), time.Now()); ok {
			return 0, &later{&backoff.RetryAfterError{Duration: pause}, failed}
		}
		return 0, failed
	}
	return 0, backoff.Permanent(failed)
}

// place returns the URL of the collector without what may be secret in it.
func (s *Sender) place() string {
	u, err := url.Parse(s.config.URL)
	if err != nil {
		return "?"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// retryAfter parses a Retry-After header: a number of seconds, or a date (RFC 9110, section 10.2.3).
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 && seconds < 1<<31 {
		return time.Duration(seconds) * time.Second, true
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now)), true
	}
	return 0, false
}

// partial returns how many items the collector refused of a request that it took (OTLP, "Partial Success"), and logs why.
func (s *Sender) partial(answer []byte, contentType string) int64 {
	rejected, message := parsePartial(answer, contentType)
	if rejected > 0 || message != "" {
		s.failed(fault.New(fault.Unavailable, "The collector at %s refused %d %s: %s", s.place(), rejected, s.signal, fault.Truncate(message, 300)))
	}
	return rejected
}

// parsePartial returns the number and the message of a partial success. All three signals have the same fields: partial_success is
// 1, in it the number is 1 and the message 2.
func parsePartial(answer []byte, contentType string) (rejected int64, message string) {
	if gjson.ValidBytes(answer) && bytes.HasPrefix(bytes.TrimSpace(answer), []byte("{")) && contentType != "application/x-protobuf" {
		p := gjson.GetBytes(answer, "partialSuccess")
		for _, name := range []string{"rejectedSpans", "rejectedDataPoints", "rejectedLogRecords"} {
			rejected = max(rejected, p.Get(name).Int())
		}
		return rejected, p.Get("errorMessage").Str
	}
	fields(answer, func(n protowire.Number, value []byte, _ uint64) {
		if n != 1 || value == nil {
			return
		}
		fields(value, func(n protowire.Number, text []byte, number uint64) {
			switch n {
			case 1:
				rejected = int64(min(number, 1<<62)) //nolint:gosec // limited
			case 2:
				message = string(text)
			}
		})
	})
	return rejected, message
}

// fields calls see with each field of a protobuf message that is a number or has bytes, until one cannot be parsed.
func fields(message []byte, see func(n protowire.Number, value []byte, number uint64)) {
	for len(message) > 0 {
		n, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return
		}
		message = message[size:]
		switch kind {
		case protowire.BytesType:
			value, size := protowire.ConsumeBytes(message)
			if size < 0 {
				return
			}
			see(n, value, 0)
			message = message[size:]
		case protowire.VarintType:
			number, size := protowire.ConsumeVarint(message)
			if size < 0 {
				return
			}
			see(n, nil, number)
			message = message[size:]
		default:
			if size = protowire.ConsumeFieldValue(n, kind, message); size < 0 {
				return
			}
			message = message[size:]
		}
	}
}

// compress returns text in the format gzip.
func compress(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}
