package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// broken says why there is no response.
func (x *exchange) broken(ctx context.Context, err error) *fault.Fault {
	where := x.call.shown()
	if late, ok := errors.AsType[*TimeoutError](context.Cause(ctx)); ok {
		f := fault.New(fault.Timeout, "Request to %s timed out after %s seconds%s", where, seconds(late.After), x.progress()).
			Suggest("Give the node a longer \"timeout\" (in seconds)")
		f.Retryable = true
		return f
	}
	if cause := context.Cause(ctx); cause != nil {
		return fault.From(cause)
	}
	if own, ok := errors.AsType[*fault.Fault](err); ok { // of a proxy in the environment
		return own
	}
	if f := x.certificateFault(err); f != nil {
		return f
	}
	said := err.Error()
	switch {
	case strings.HasPrefix(said, "net/http: invalid"): // of a header or a method, before anything is sent
		return fault.New(fault.Execution, "Request to %s failed: %s", where, plainNet(err)).Suggest("Correct the request: its url, method and headers")
	case strings.Contains(said, "server response headers exceeded"):
		return fault.New(fault.TooLarge, "The headers of the response of %s are longer than %d bytes", where, maxHeader).
			Suggest("Check the URL: no ordinary server answers so")
	case malformed(said):
		return fault.New(fault.Protocol, "%s does not answer as HTTP servers do: %s", where, plainNet(err)).Suggest("Check the URL: its scheme, host and port")
	}
	return x.unreachable(where, err)
}

// progress says how far the response had come.
func (x *exchange) progress() string {
	if x.answer.StatusCode == 0 {
		return ", before an answer came"
	}
	return fmt.Sprintf(", when %d bytes of the response had come", x.answer.Size)
}

// malformed says whether an error is of an answer that is no HTTP: the next would not be either.
func malformed(said string) bool {
	return slices.ContainsFunc([]string{"malformed ", "unsupported transfer encoding", "bad Content-Length", "invalid Content-Length", "too many 1xx", "too many transfer encodings",
		"multiple Content-Length", "invalid byte in chunk", "chunk length too large", "empty hex number for chunk", "chunked encoding contains too much", "header line too long"},
		func(part string) bool { return strings.Contains(said, part) })
}

// unreachable is the fault of a connection that cannot be had or broke.
func (x *exchange) unreachable(where string, err error) *fault.Fault {
	if refused, ok := errors.AsType[*proxyError](err); ok {
		f := fault.New(fault.Unavailable, "The proxy refused to connect to %s: HTTP %d %s", where, refused.status, http.StatusText(refused.status))
		if refused.status == http.StatusProxyAuthRequired {
			return f.Suggest("Put the proxy's user and password into its URL: http://user:password@host:port")
		}
		f.Retryable = refused.status >= 500
		return f.Suggest(checkProxy)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && (op.Op == "proxyconnect" || op.Op == "socks connect") {
		return x.proxyUnreachable(where, op.Err)
	}
	if unknown, ok := errors.AsType[*net.DNSError](err); ok && unknown.IsNotFound {
		return fault.New(fault.Unavailable, "Could not connect to %s: there is no host named %s", where, unknown.Name).
			Suggest("Check the host in the URL, and that there is a network")
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return x.unavailable("Could not connect to %s: %s", where, plainNet(err))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return x.unavailable("Request to %s failed: the server closed the connection without an answer", where)
	}
	return x.unavailable("Request to %s failed: %s", where, plainNet(err))
}

// proxyUnreachable is the fault of a proxy that cannot be reached, or does not let one through.
func (x *exchange) proxyUnreachable(where string, err error) *fault.Fault {
	named := "HTTP_PROXY"
	switch {
	case x.in.Proxy != "":
		named = "proxy"
	case x.call.url.Scheme == "https":
		named = "HTTPS_PROXY"
	}
	f := fault.New(fault.Unavailable, "Could not connect to %s through its proxy, which %s names: %s", where, named, plainNet(err))
	unknown, ok := errors.AsType[*net.DNSError](err)
	f.Retryable = !strings.Contains(err.Error(), "authentication") && !(ok && unknown.IsNotFound)
	return f.Suggest(checkProxy)
}

const checkProxy = `Check the proxy, which "proxy" names, or HTTP_PROXY and HTTPS_PROXY; "proxy": "none" uses none`

// unavailable is the fault of a connection, which the next attempt may not have.
func (x *exchange) unavailable(format string, args ...any) *fault.Fault {
	f := fault.New(fault.Unavailable, format, args...).Suggest("Check the URL, and that the service is running")
	f.Retryable = true
	return f
}

// proxyError is an answer of a proxy to CONNECT that is no success.
type proxyError struct{ status int }

func (e *proxyError) Error() string { return fmt.Sprintf("the proxy answered HTTP %d", e.status) }

// certificateFault is the fault of TLS that could not be agreed on, nil for any other error.
func (x *exchange) certificateFault(err error) *fault.Fault {
	where, host := x.call.shown(), x.call.url.Hostname()
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		f := fault.New(fault.Protocol, "%s does not speak TLS", where)
		if string(plain.RecordHeader[:]) == "HTTP/" {
			f.Message += " but plain HTTP"
		}
		return f.Suggest("Use http:// in the URL, or the port that speaks TLS")
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		f := fault.New(fault.Execution, "The certificate of %s is not for %s", where, host)
		if names := certified(wrong.Certificate); names != "" {
			f.Message += " but for " + names
		}
		return f.Suggest("Use the name that the certificate is for in the URL").Suggest(unverified)
	}
	if wrong, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		what := "is signed by an authority that is not trusted here"
		if c := wrong.Cert; c != nil && c.Subject.String() == c.Issuer.String() {
			what = "is self-signed, or signed by an authority that is not trusted here"
		}
		return fault.New(fault.Execution, "The certificate of %s %s", where, what).
			Suggest(`Give the authority's certificate, or the self-signed one, as "ca_file"`).Suggest(unverified)
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		return invalid(where, wrong)
	}
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" {
		return fault.New(fault.Execution, "%s refused the TLS connection: %s", where, plainNet(alert.Err)).
			Suggest(`If it wants a certificate of the client, give "client_cert" and "client_key" that it trusts`)
	}
	if wrong, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return fault.New(fault.Execution, "The certificate of %s cannot be trusted: %s", where, plainNet(wrong.Err)).Suggest(unverified)
	}
	return nil
}

// unverified is the last way to go.
const unverified = `Only where nobody can stand between: "verify_tls": false takes any certificate`

// invalid is the fault of a certificate with something wrong in itself.
func invalid(where string, wrong x509.CertificateInvalidError) *fault.Fault {
	if wrong.Reason != x509.Expired || wrong.Cert == nil {
		return fault.New(fault.Execution, "The certificate of %s is not valid: %s", where, plainNet(wrong)).Suggest(unverified)
	}
	f := fault.New(fault.Execution, "The certificate of %s has expired on %s", where, wrong.Cert.NotAfter.UTC().Format(time.DateOnly))
	if time.Now().Before(wrong.Cert.NotBefore) {
		f.Message = fmt.Sprintf("The certificate of %s is not valid before %s", where, wrong.Cert.NotBefore.UTC().Format(time.DateOnly))
	}
	return f.Suggest("Let who runs the server renew it, and check this machine's clock").Suggest(unverified)
}

// certified lists what a certificate is for, a few at most.
func certified(c *x509.Certificate) string {
	if c == nil {
		return ""
	}
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) > 5 {
		names = append(names[:5], "…")
	}
	return strings.Join(names, ", ")
}

// statusFault is the fault of an answer that is no success; said is how its body begins.
func (x *exchange) statusFault(status int, said []byte) *fault.Fault {
	f := fault.New(fault.Execution, "HTTP %d", status).Detail("status", status)
	if text := http.StatusText(status); text != "" {
		f.Message += " " + text
	}
	f.Message += fmt.Sprintf(" from %s %s", x.call.method, x.call.shown())
	if text := strings.TrimSpace(strings.ToValidUTF8(string(said), "\uFFFD")); text != "" {
		f.Message += ": " + fault.Truncate(text, 500)
	}
	switch status {
	case http.StatusTooManyRequests:
		f.Type, f.Retryable = fault.RateLimited, true
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Type, f.Retryable = fault.Unavailable, true
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Suggest("Check the credentials: auth_token, api_key or headers")
		if len(x.chain) > 0 {
			f.Suggest("It was redirected here from %s: credentials go to no other host, so ask here at once", x.chain[len(x.chain)-1])
		}
	case http.StatusProxyAuthRequired:
		f.Suggest("Put the proxy's user and password into its URL: http://user:password@host:port")
	}
	if len(f.Suggestions) == 0 {
		f.Suggest("Correct the request, or take this failure with an edge of action \"error\"")
	}
	return f
}
