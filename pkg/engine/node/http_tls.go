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

// tlsFiles holds the contents of the files that a node names for TLS; nil for a file it does not name.
type tlsFiles struct{ ca, cert, key []byte }

// readTLSFiles reads the files. A client_cert without a client_key is expected to contain the key.
func readTLSFiles(ctx context.Context, in *nodetype.HTTP, t *Task) (c tlsFiles, f *fault.Fault) {
	if in.ClientKey != "" && in.ClientCert == "" {
		return c, fault.New(fault.Execution, "client_key is given without client_cert").Suggest("Give the key's certificate as client_cert")
	}
	for _, file := range []struct {
		name string
		into *[]byte
	}{{in.CAFile, &c.ca}, {in.ClientCert, &c.cert}, {in.ClientKey, &c.key}} {
		if file.name == "" {
			continue
		}
		path := resolvePath(t, file.name)
		content, err := readPEM(ctx, path)
		if errors.Is(err, errTooLong) {
			return c, fault.New(fault.Execution, "Cannot read %s: a certificate or key has at most %d bytes", file.name, maxPEM).
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

// maxPEM is the most bytes of a file for TLS. The certificates of all public authorities take a quarter of that.
const maxPEM = 1 << 20

// readPEM reads a file of at most maxPEM bytes. It ends when ctx is done.
func readPEM(ctx context.Context, path string) ([]byte, error) {
	file, err := openToRead(ctx, path, maxPEM)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(&cancelReader{ctx: ctx, from: file}, maxPEM+1))
	if err == nil && len(content) > maxPEM {
		err = errTooLong
	}
	return content, err
}

// digest identifies the contents of the files.
func (c *tlsFiles) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, content := range [][]byte{c.ca, c.cert, c.key} {
		sum := sha256.Sum256(content)
		h.Write(sum[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// config returns the TLS configuration of the node.
func (c *tlsFiles) config(in *nodetype.HTTP) (*tls.Config, *fault.Fault) {
	config := &tls.Config{InsecureSkipVerify: !in.VerifyTLS} //nolint:gosec // the workflow says so
	if c.ca != nil {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(c.ca) {
			return nil, fault.New(fault.Execution, "ca_file %s contains no PEM certificate", in.CAFile).
				Suggest("It must contain blocks that begin with -----BEGIN CERTIFICATE-----")
		}
		config.RootCAs = pool
	}
	if c.cert != nil {
		pair, err := tls.X509KeyPair(c.cert, c.key)
		if err != nil {
			return nil, fault.New(fault.Execution, "client_cert %s cannot be used: %s", in.ClientCert, netMessage(err)).
				Suggest("client_cert must contain the certificate and client_key its key without a password, both in PEM")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
