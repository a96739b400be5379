package payload

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"errors"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// encoding is the encoding of a payload that a Codec has encrypted.
const encoding = "binary/encrypted-aes-256-gcm"

// Codec encrypts payloads with AES-256-GCM. It implements converter.PayloadCodec.
type Codec struct{ aead cipher.AEAD }

// ParseKey returns the codec with a key of 64 hexadecimal digits. White space around them is ignored.
func ParseKey(text string) (*Codec, error) {
	raw, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(raw) != 32 {
		return nil, fault.New(fault.Usage, "The key of the codec is not 64 hexadecimal digits").Suggest("Make one: openssl rand -hex 32")
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fault.From(err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fault.From(err)
	}
	return &Codec{aead}, nil
}

// Encode encrypts payloads, with their metadata.
func (c *Codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	sealed := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		raw, err := proto.Marshal(p)
		if err != nil {
			return nil, err
		}
		sealed[i] = &commonpb.Payload{Metadata: map[string][]byte{converter.MetadataEncoding: []byte(encoding)}, Data: c.seal(raw)}
	}
	return sealed, nil
}

// errOtherKey is the error of a payload that another key has encrypted, or that was changed.
var errOtherKey = errors.New("it was encrypted with another key")

// Decode decrypts payloads that a Codec has encrypted, and returns others as they are.
func (c *Codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	open := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if open[i] = p; string(p.GetMetadata()[converter.MetadataEncoding]) != encoding {
			continue
		}
		raw, err := c.open(p.GetData())
		if err != nil {
			return nil, err
		}
		open[i] = &commonpb.Payload{}
		if err := proto.Unmarshal(raw, open[i]); err != nil {
			return nil, err
		}
	}
	return open, nil
}

func (c *Codec) seal(raw []byte) []byte { return c.aead.Seal(nil, nil, raw, nil) }

func (c *Codec) open(sealed []byte) ([]byte, error) {
	raw, err := c.aead.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, errOtherKey
	}
	return raw, nil
}
