package node

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// credentials are the files that a node names for TLS.
type credentials struct{ ca, cert, key []byte }

func readCredentials(ctx context.Context, in *nodetype.HTTP, t *Task) (c credentials, f *fault.Fault) {
	if in.ClientKey != "" && in.ClientCert == "" {
		return c, fault.New(fault.Execution, "client_key is given without client_cert").Suggest("Give the certificate that the key belongs to as client_cert")
	}
	for _, file := range []struct {
		name string
		into *[]byte
	}{{in.CAFile, &c.ca}, {in.ClientCert, &c.cert}, {in.ClientKey, &c.key}} {
		if file.name == "" {
			continue
		}
		path := under(t, file.name)
		content, err := readShort(ctx, path)
		if errors.Is(err, errTooLong) {
			return c, fault.New(fault.Execution, "Cannot read %s: it has more than %d bytes, and is no certificate or key", file.name, maxPEM).
				Suggest("Correct ca_file, client_cert or client_key")
		}
		if err != nil {
			return c, fileFault("read", file.name, path, err)
		}
		*file.into = content
	}
	if in.ClientKey == "" {
		c.key = c.cert
	}
	return c, nil
}

// maxPEM is the most bytes that are read of a file for TLS. The certificates of all authorities take a quarter of that.
const maxPEM = 1 << 20

// readShort reads a file of at most maxPEM bytes, until ctx is done.
func readShort(ctx context.Context, path string) ([]byte, error) {
	file, err := openToRead(ctx, path, maxPEM)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(&cancellable{ctx: ctx, from: file}, maxPEM+1))
	if err == nil && len(content) > maxPEM {
		err = errTooLong
	}
	return content, err
}

func (c *credentials) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, content := range [][]byte{c.ca, c.cert, c.key} {
		sum := sha256.Sum256(content)
		h.Write(sum[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// config is TLS as the node wants it, nil for what is usual.
func (c *credentials) config(in *nodetype.HTTP) (*tls.Config, *fault.Fault) {
	config := &tls.Config{InsecureSkipVerify: !in.VerifyTLS} //nolint:gosec // the workflow says so
	if c.ca != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(c.ca) {
			return nil, fault.New(fault.Execution, "ca_file %s holds no certificate in PEM", in.CAFile).
				Suggest("It must have blocks that begin with -----BEGIN CERTIFICATE-----")
		}
		config.RootCAs = pool
	}
	if c.cert != nil {
		pair, err := tls.X509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, fault.New(fault.Execution, "client_cert %s cannot be used: %s", in.ClientCert, plainNet(err)).
				Suggest("client_cert must have the certificate and client_key its key without a password, both in PEM")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
