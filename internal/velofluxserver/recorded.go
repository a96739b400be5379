package velofluxserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Exchange is a request to a real Manager and its response, as recorded.
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

// Recorded returns the recorded exchanges that are kept beside the repository, in the order of recording. It skips the
// test if there are no such files. The package of the test must be two folders deep.
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
