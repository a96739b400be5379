package suitetools

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// asked is the state of a result that asks the questions of a paused run. A client keeps it until the questions are answered, so it
// is signed.
type asked struct {
	// Tool is the tool that was called.
	Tool string `json:"tool"`
	// Arguments is a keyed digest of the arguments of the call. They may have secrets.
	Arguments string `json:"arguments"`
	Run       string `json:"run"`
	// Nodes are the paths of the nodes that ask.
	Nodes []string `json:"nodes"`
	// Asked is when the questions were asked, in milliseconds since 1970.
	Asked int64 `json:"asked"`
	// Expires is when the state ends, in seconds since 1970.
	Expires int64 `json:"expires"`
}

const (
	// stateLifetime is how long the questions of a result can be answered. Later, answers are given to the run by its id.
	stateLifetime = 24 * time.Hour
	// statePurpose keeps a signature from being valid for anything else that is signed with the key.
	statePurpose = "pflow requestState 1\n"

	keyFile = "serve.key"
	keySize = 32
)

// stateKey returns the key of the home that states are signed with, and creates it if the home has no key. All servers of the home have
// the same.
func stateKey(ctx context.Context, h *home.Home) ([]byte, error) {
	key, err := readKey(h)
	if key != nil || err != nil {
		return key, err
	}
	err = h.Lock(ctx, keyFile, func() error {
		if key, err = readKey(h); key != nil || err != nil {
			return err // another server has created it
		}
		key = make([]byte, keySize)
		_, _ = rand.Read(key) // it never fails
		return h.Write(key, 0o600, keyFile)
	})
	return key, err
}

// readKey returns the key, or nil if there is no file of it.
func readKey(h *home.Home) ([]byte, error) {
	key, err := h.Read(keyFile)
	if key == nil || err != nil {
		return nil, err
	}
	info, err := os.Stat(h.Path(keyFile))
	switch {
	case err != nil:
		return nil, fault.From(err)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fault.New(fault.Security, "The file %s in the home can be read by other users: its mode is %#o, not 0600", keyFile, info.Mode().Perm()).
			Suggest("Delete it: the next question creates another key")
	case len(key) != keySize:
		return nil, fault.New(fault.Validation, "The file %s in the home has %d bytes, not %d", keyFile, len(key), keySize).
			Suggest("Delete it: the next question creates another key")
	}
	return key, nil
}

// seal returns the signed state as text.
func (a *asked) seal(key []byte) (string, error) {
	content, err := rawjson.Marshal(a)
	if err != nil {
		return "", err
	}
	return stateText(content) + "." + stateText(signature(key, content)), nil
}

// digestOf returns a digest of the arguments of a call, which does not depend on how their JSON is written.
func digestOf(key []byte, arguments json.RawMessage) string {
	canonical := arguments
	var value any
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	if d.Decode(&value) == nil {
		if sorted, err := rawjson.Marshal(value); err == nil {
			canonical = sorted
		}
	}
	return stateText(signature(key, slices.Concat([]byte("arguments\n"), canonical)))
}

// unseal returns the state that a client has sent with a call of a tool, or why it cannot be used.
func unseal(key []byte, text, tool string, arguments json.RawMessage, now time.Time) (*asked, *fault.Fault) {
	first, second, _ := strings.Cut(text, ".")
	content, err := base64.RawURLEncoding.DecodeString(first)
	signed, alsoBad := base64.RawURLEncoding.DecodeString(second)
	var a asked
	if err != nil || alsoBad != nil || !hmac.Equal(signed, signature(key, content)) || json.Unmarshal(content, &a) != nil {
		return nil, fault.New(fault.Security, "The requestState is not one that this server, or another one of its home, has sent").
			Suggest("Send the requestState of the answer as it is")
	}
	if a.Tool != tool {
		return nil, fault.New(fault.Security, "The requestState belongs to a call of %s, not of %s", a.Tool, tool).Detail("run_id", a.Run)
	}
	if !hmac.Equal([]byte(a.Arguments), []byte(digestOf(key, arguments))) {
		return nil, fault.New(fault.Security, "The requestState belongs to a call of %s with other arguments; run %s still waits", tool, a.Run).
			Suggest("Send the arguments of the call that was asked").Detail("run_id", a.Run)
	}
	if !now.Before(time.Unix(a.Expires, 0)) {
		return nil, fault.New(fault.Timeout, "The requestState ended at %s; run %s still waits", time.Unix(a.Expires, 0).UTC().Format(time.RFC3339), a.Run).
			Then(fault.Step{Do: fault.DoResume, Run: a.Run}).Detail("run_id", a.Run)
	}
	return &a, nil
}

func signature(key, content []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(statePurpose))
	_, _ = h.Write(content)
	return h.Sum(nil)
}

func stateText(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
