package flowhttp

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pflow-suite/pflow/pkg/mcp/suitetools/suite"
)

// TestExpiredJobsAreSweptEveryHour holds that a server asks pflow-share every hour to remove expired jobs, that it goes on when that fails, and that it
// stops with its context.
func TestExpiredJobsAreSweptEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		var asked []time.Duration
		begun := time.Now()
		programs := &suite.Programs{Log: slog.New(slog.DiscardHandler), Execute: func(_ context.Context, c suite.Command) (*suite.Outcome, error) {
			if c.Program != "pflow-share" || c.Args[1] != "cleanup" {
				t.Errorf("%s %q", c.Program, c.Args)
			}
			if asked = append(asked, time.Since(begun)); len(asked) == 2 {
				return &suite.Outcome{Output: []byte(`{"success":false,"error":{"type":"unavailable","message":"the disk is away"}}`), Exit: 1}, nil
			}
			return &suite.Outcome{Output: []byte(`{"success":true,"deleted":0}`)}, nil
		}}
		h := &Handler{Suite: programs, Log: slog.New(slog.NewTextHandler(&said, nil))}
		ctx, stop := context.WithCancel(t.Context())
		go h.Sweep(ctx)
		time.Sleep(3*time.Hour + time.Minute)
		synctest.Wait()
		stop()
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		if len(asked) != 3 || asked[0] != time.Hour || asked[1] != 2*time.Hour || asked[2] != 3*time.Hour || !bytes.Contains(said.Bytes(), []byte("the disk is away")) {
			t.Errorf("asked after %v; %s", asked, said.String())
		}
	})
}

// TestDispositions holds that a browser shows only what cannot be active, and that no name or type breaks a header.
func TestDispositions(t *testing.T) {
	for _, tc := range [][4]string{
		{"image/png", "a.png", "image/png", "inline; filename=a.png"},
		{"image/svg+xml", "a.svg", "image/svg+xml", "attachment; filename=a.svg"},
		{"text/html; charset=utf-8", "a.html", "text/html; charset=utf-8", "attachment; filename=a.html"},
		{"text/plain", "../../etc/passwd", "text/plain; charset=utf-8", "inline; filename=.._.._etc_passwd"},
		{"text/jsx", "a.jsx", "text/jsx; charset=utf-8", "attachment; filename=a.jsx"},
		{"application/xhtml+xml", "x", "application/xhtml+xml", "attachment; filename=x"},
		{"image/png\r\nSet-Cookie: a=b", "a\r\nb", "application/octet-stream", "attachment; filename=a__b"},
		{"nonsense", "é\u202egnp.exe", "application/octet-stream", "attachment; filename*=utf-8''%C3%A9%E2%80%AEgnp.exe"},
		{"", "", "application/octet-stream", `attachment; filename=""`},
	} {
		kind := contentType(tc[0], nil)
		if got := disposition(kind, tc[1]); kind != tc[2] || got != tc[3] {
			t.Errorf("%q %q: %q %q", tc[0], tc[1], kind, got)
		}
	}
}
