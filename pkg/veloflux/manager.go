package veloflux

import (
	"net/http"
	"net/url"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Config says where a Manager is and how to reach it.
type Config struct {
	// URL begins with http:// or https://; without a scheme it is http. Its path, if any, precedes every route.
	// user:password@ goes into the Authorization header and never into a message.
	URL string
	// Timeout bounds each request, including reading the response; 0 means 10 seconds.
	Timeout time.Duration
	// Header is sent with every request. It overrides the Authorization header made from the URL.
	Header http.Header
	// HeaderFile names a file with lines "Name: value", blank lines and # comments. It overrides Header and is read
	// again for each request, so that a token in it can be replaced. A pipe is read only once.
	HeaderFile string
	// CAFile has PEM certificates of authorities that are trusted in addition to the system's. CertFile and KeyFile are
	// the client's certificate and key; without KeyFile the key is in CertFile.
	CAFile, CertFile, KeyFile string
	// SkipVerify accepts any certificate of the Manager.
	SkipVerify bool
	// Proxy returns the proxy for requests to the Manager and is called once, by NewManager; nil means to follow HTTP_PROXY,
	// HTTPS_PROXY and NO_PROXY.
	Proxy func(*http.Request) (*url.URL, error)
}

// defaultTimeout bounds a request if Config.Timeout is 0.
const defaultTimeout = 10 * time.Second

// Manager is a client of a veloFlux Manager's REST API. It is safe for concurrent use.
type Manager struct {
	address   address
	timeout   time.Duration
	maxBytes  int // bytes of a response
	headers   *headers
	transport *http.Transport
	proxy     *url.Userinfo // the credentials for the proxy, or nil
}

// NewManager returns a client. It does not contact the Manager. Its errors are *fault.Fault of type usage_error.
func NewManager(c Config) (*Manager, error) {
	at, f := parseAddress(c.URL)
	if f != nil {
		return nil, f
	}
	if c.Timeout < 0 {
		return nil, fault.New(fault.Usage, "The time for a request to the Manager must be more than 0 seconds")
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	h, f := newHeaders(at.user, c.Header, c.HeaderFile)
	if f != nil {
		return nil, f
	}
	transport, proxy, f := newTransport(c, at.url)
	if f != nil {
		return nil, f
	}
	return &Manager{address: at, timeout: c.Timeout, maxBytes: maxBody, headers: h, transport: transport, proxy: proxy}, nil
}

// sendsCredentials reports whether requests may identify the user to the Manager or to a proxy, so that the response may
// be for this user only. That is so with user:password@ in the URL or in that of a proxy, with a client certificate, and
// with any header that is not known to be harmless, because a proxy may identify users by any header.
func (m *Manager) sendsCredentials() bool {
	if len(m.transport.TLSClientConfig.Certificates) > 0 || m.proxy != nil {
		return true
	}
	now, _ := m.headers.current()
	for name := range now {
		if !harmlessHeader(name) {
			return true
		}
	}
	return false
}

// secrets returns the values that must not appear in a trace or a log: those of the headers, including the current ones
// of the header file, whole and in parts, and the credentials in the URL and in that of the proxy.
func (m *Manager) secrets() []string {
	now, _ := m.headers.current()
	return m.secretsWith(now)
}

// secretsWith returns the secrets of a request with the given headers.
func (m *Manager) secretsWith(header http.Header) []string {
	values := appendUserSecrets(secretValues(header), m.address.user)
	if m.proxy != nil { // also in the form in which they are sent
		sent := authorization(m.proxy)
		for _, part := range append(secretParts("Proxy-Authorization", sent), sent) {
			values = addSecret(values, part)
		}
	}
	return appendUserSecrets(values, m.proxy)
}

// Close closes idle connections.
func (m *Manager) Close() { m.transport.CloseIdleConnections() }
