// Package sealed encrypts the owner's API keys with AES-256-GCM under one master key.
package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"errors"
)

// Key is a master key of 32 bytes.
type Key struct{ aead cipher.AEAD }

// errKey is the error of ParseKey. It repeats nothing of the text.
var errKey = errors.New("a master key is 64 hexadecimal digits")

// ErrSealed is the error of Open for a value that another key has sealed, or under another name, or that was changed.
var ErrSealed = errors.New("the value was not sealed with this key")

// ParseKey parses 64 hexadecimal digits.
func ParseKey(text string) (*Key, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 32 {
		return nil, errKey
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, errKey
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, errKey
	}
	return &Key{aead}, nil
}

// Seal encrypts a value under its name. Equal values have different ciphertexts.
func (k *Key) Seal(name string, value []byte) []byte {
	return k.aead.Seal(nil, nil, value, []byte(name))
}

// Open decrypts what Seal returned for the same name, or returns ErrSealed.
func (k *Key) Open(name string, box []byte) ([]byte, error) {
	value, err := k.aead.Open(nil, nil, box, []byte(name))
	if err != nil {
		return nil, ErrSealed
	}
	return value, nil
}

// Random fills a text of n characters with letters and digits of ASCII, each equally likely, from the system's source of randomness.
func Random(n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	const fair = 256 - 256%len(alphabet) // bytes from here on would make the first characters likelier
	text := make([]byte, 0, n)
	for buf := make([]byte, 2*n); len(text) < n; {
		_, _ = rand.Read(buf) // never fails, see crypto/rand
		for _, b := range buf {
			if int(b) < fair && len(text) < n {
				text = append(text, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return string(text)
}
