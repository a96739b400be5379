package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestThirdPartyLicenses holds the file in the root to what is linked.
func TestThirdPartyLicenses(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	want, err := licenses()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("THIRD_PARTY_LICENSES")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("THIRD_PARTY_LICENSES is not what is linked (%v): go run ./scripts/licenses > THIRD_PARTY_LICENSES writes it", err)
	}
}
