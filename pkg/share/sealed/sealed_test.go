package sealed

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestAKeyOpensOnlyWhatItHasSealedUnderTheName(t *testing.T) {
	text := strings.Repeat("0f", 32)
	key, err := ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	box := key.Seal("A_TOKEN", []byte("hunter22"))
	if bytes.Contains(box, []byte("hunter22")) || bytes.Equal(box, key.Seal("A_TOKEN", []byte("hunter22"))) {
		t.Error("the box shows its value")
	}
	if got, err := key.Open("A_TOKEN", box); err != nil || string(got) != "hunter22" {
		t.Errorf("%q, %v", got, err)
	}
	other, err := ParseKey(strings.Repeat("0e", 32))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(box)
	changed[len(changed)-1] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"another key":  func() ([]byte, error) { return other.Open("A_TOKEN", box) },
		"another name": func() ([]byte, error) { return key.Open("B_TOKEN", box) },
		"a change":     func() ([]byte, error) { return key.Open("A_TOKEN", changed) },
		"a short box":  func() ([]byte, error) { return key.Open("A_TOKEN", box[:5]) },
		"nothing":      func() ([]byte, error) { return key.Open("A_TOKEN", nil) },
	} {
		if got, err := open(); !errors.Is(err, ErrSealed) || got != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestAMasterKeyHas64HexadecimalDigits(t *testing.T) {
	for _, text := range []string{"", "0f", strings.Repeat("0f", 31), strings.Repeat("0f", 33), strings.Repeat("0g", 32), " " + strings.Repeat("0f", 32)} {
		if _, err := ParseKey(text); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseKey(strings.Repeat("0F", 32)); err != nil {
		t.Error(err)
	}
}

// Of 62 characters each must come equally often. With bytes modulo 62 the first eight would come a quarter more often.
func TestRandomIsFair(t *testing.T) {
	const each = 4000
	counts := map[rune]int{}
	for _, r := range Random(62 * each) {
		counts[r]++
	}
	if len(counts) != 62 {
		t.Errorf("%d characters", len(counts))
	}
	for r, n := range counts {
		if n < each*88/100 || n > each*112/100 { // 7 standard deviations
			t.Errorf("%q came %d times, expected about %d", r, n, each)
		}
	}
	if a, b := Random(12), Random(12); len(a) != 12 || a == b {
		t.Errorf("%q, %q", a, b)
	}
}
