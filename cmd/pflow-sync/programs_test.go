package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

func TestAProgramThatDoesNotDescribeItselfInTimeIsStopped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pflow-node-slow")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nsleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	found := findPrograms(filepath.Dir(path), "", func(string, ...any) { t.Error("a warning") })
	if len(found) != 1 {
		t.Fatal(found)
	}
	_, err := found[0].describe(t.Context(), os.Environ(), "PFLOW_SYNC_ID=test", 50*time.Millisecond)
	if f := fault.From(err); f == nil || f.Type != fault.Timeout || !strings.Contains(f.Message, "within 50ms") {
		t.Errorf("%+v", err)
	}
}
