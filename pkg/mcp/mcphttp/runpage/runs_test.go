package runpage

import (
	"testing"
	"time"
)

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		400 * time.Microsecond: "0 ms", 12 * time.Millisecond: "12 ms", 1500 * time.Millisecond: "1.5 s", 10 * time.Second: "10s", 59600 * time.Millisecond: "1m",
		70 * time.Second: "1m10s", 600 * time.Second: "10m", 3600 * time.Second: "1h0m", 36010 * time.Second: "10h0m10s",
	} {
		if got := took(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

// TestLocal holds that a sign-in leads to no other site.
func TestLocal(t *testing.T) {
	for next, want := range map[string]string{
		"/": "/", "/runs/r1?a=b": "/runs/r1?a=b", "": "/", "runs": "/", "//evil.example": "/", `/\evil.example`: "/", "https://evil.example": "/", "/\t/evil.example": "/", "/a\r\nX: 1": "/",
	} {
		if got := local(next); got != want {
			t.Errorf("%q leads to %q, want %q", next, got, want)
		}
	}
}
