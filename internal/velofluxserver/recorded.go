package velofluxserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Exchange is one that was recorded from a real Manager.
type Exchange struct {
	Name    string
	Request struct {
		Method, Path string
		Headers      map[string]string
		Body         *string
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    string
	}
}

// Recorded gives the exchanges that are at hand beside the repository, in the order in which they were recorded, and skips
// the test where there are none. The test's package stands two folders deep.
func Recorded(t testing.TB) []Exchange {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "veloflux", "recorded", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("there are no recorded exchanges")
	}
	all := make([]Exchange, len(files))
	for i, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &all[i]); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return all
}
