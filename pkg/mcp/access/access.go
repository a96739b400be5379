// Package access keeps the bearer tokens of the clients that may call pflow-serve over HTTP, what each of them may do, and the sessions of
// the browsers in which they were given. A token and the id of a session are shown once, when they are made: the home has only their hashes.
package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// File is the file of the home that has the tokens, mode 0600.
const File = "tokens.json"

// prefix begins each token, so that people and scanners of secrets recognize it.
const prefix = "pflow_"

// Token is what is known about a token.
type Token struct {
	Name string `json:"name"`
	// Toolsets are the only toolsets that the token reaches; empty is all that the server has.
	Toolsets []string `json:"toolsets,omitempty"`
	// Flows are the only workflows that the token reaches; empty is all.
	Flows     []string  `json:"flows,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	// Hash is the SHA-256 of the token in hexadecimal digits. A token has 256 random bits, so it cannot be guessed from that.
	Hash string `json:"hash,omitempty"`
	// Sessions are those of browsers in which the token was given, and end with it.
	Sessions []Session `json:"sessions,omitempty"`
}

// document is the content of the file.
type document struct {
	Tokens []Token `json:"tokens"`
}

// List returns the tokens in the order in which they were made.
func List(h *home.Home) ([]Token, error) {
	data, err := h.Read(File)
	if data == nil || err != nil {
		return nil, err
	}
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fault.New(fault.Validation, "%s in the home is not a list of tokens: %v", File, err).
			Suggest("Remove the file and make new tokens")
	}
	return doc.Tokens, nil
}

// Add makes a token with the given name and limits, and returns it. A name that is taken is already_exists.
func Add(ctx context.Context, h *home.Home, t Token) (secret string, _ Token, err error) {
	if err := home.CheckName("token", t.Name); err != nil {
		return "", t, err
	}
	random := make([]byte, sha256.Size)
	_, _ = rand.Read(random) // it never fails
	secret = prefix + base64.RawURLEncoding.EncodeToString(random)
	t.Hash, t.CreatedAt = hash(secret), time.Now().UTC().Truncate(time.Millisecond)
	return secret, t, change(ctx, h, func(tokens []Token) ([]Token, error) {
		if slices.ContainsFunc(tokens, named(t.Name)) {
			return nil, fault.New(fault.AlreadyExists, "There is a token %q already", t.Name).Suggest("Choose another name, or remove that token first")
		}
		return append(tokens, t), nil
	})
}

// CheckFlow returns a fault for a name that no workflow has.
func CheckFlow(name string) error { return home.CheckName("workflow", name) }

// Remove removes the token with a name. An unknown name is not_found.
func Remove(ctx context.Context, h *home.Home, name string) error {
	return change(ctx, h, func(tokens []Token) ([]Token, error) {
		if !slices.ContainsFunc(tokens, named(name)) {
			f := fault.New(fault.NotFound, "There is no token %q", fault.Truncate(name, 100))
			var names []string
			for _, t := range tokens {
				names = append(names, t.Name)
			}
			if near, ok := fault.Nearest(name, names); ok {
				f.Suggest("Did you mean %q?", near)
			}
			return nil, f.Offer(name, names)
		}
		return slices.DeleteFunc(tokens, named(name)), nil
	})
}

func named(name string) func(Token) bool { return func(t Token) bool { return t.Name == name } }

// Find returns the token that is a secret, or nil. How long it takes says nothing about the tokens that there are.
func Find(tokens []Token, secret string) *Token {
	wanted := []byte(hash(secret))
	var found *Token
	for i := range tokens {
		if subtle.ConstantTimeCompare(wanted, []byte(tokens[i].Hash)) == 1 {
			found = &tokens[i]
		}
	}
	if !strings.HasPrefix(secret, prefix) {
		return nil
	}
	return found
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// change reads the tokens, calls f and writes what it returns, under a lock of the home.
func change(ctx context.Context, h *home.Home, f func([]Token) ([]Token, error)) error {
	return h.Lock(ctx, File, func() error {
		tokens, err := List(h)
		if err != nil {
			return err
		}
		if tokens, err = f(tokens); err != nil {
			return err
		}
		data, err := rawjson.Marshal(document{tokens})
		if err != nil {
			return err
		}
		return h.Write(append(data, '\n'), 0o600, File)
	})
}
