package main

import (
	"strings"
	"testing"
	"time"
)

// TestMoment holds that a text that is not a time is named with its argument as flags and tools share it, without dashes.
func TestMoment(t *testing.T) {
	_, err := moment("--since", "yesterday", time.Now())
	if err == nil || !strings.Contains(err.Error(), `since`) || !strings.Contains(err.Error(), `"yesterday"`) || strings.Contains(err.Error(), "--") {
		t.Errorf("%v", err)
	}
}
