package veloflux

import (
	"net/http"
	"net/url"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Config says where a Manager is and how it is reached.
type Config struct {
	// URL is http:// or https:// (http when there is none), with a path in front of every route when it has one.
	// user:password@ goes into the Authorization header and into no message.
	URL string
	// Timeout holds for each request, with its answer; 0 is 10 seconds.
	Timeout time.Duration
	// Header is sent with every request, and wins over what the URL makes of user:password@.
	Header http.Header
	// HeaderFile has lines "Name: value", with blank ones and # comments between them, and wins over Header. It is read
	// again for each request, so that a token in it can be replaced. What is no file but a pipe is read once.
	HeaderFile string
	// CAFile has certificates in PEM that are trusted besides the system's. CertFile and KeyFile are the client's own;
	// without KeyFile the key stands in CertFile.
	CAFile, CertFile, KeyFile string
	// SkipVerify takes any certificate of the Manager.
	SkipVerify bool
	// Proxy gives the proxy of a request; nil is what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say.
	Proxy func(*http.Request) (*url.URL, error)
}

// defaultTimeout is how long a request may take.
const defaultTimeout = 10 * time.Second

// Manager is the REST API of a veloFlux Manager. It may be used by several callers at a time.
type Manager struct {
	address   address
	timeout   time.Duration
	most      int // bytes of an answer
	headers   *headers
	transport *http.Transport
	proxies   *proxies
}

// NewManager makes a client. It asks the Manager nothing. Its errors are a *fault.Fault of type usage_error.
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
	used := &proxies{}
	transport, f := newTransport(c, used)
	if f != nil {
		return nil, f
	}
	return &Manager{address: at, timeout: c.Timeout, most: maxBody, headers: h, transport: transport, proxies: used}, nil
}

// credentialed says whether requests tell the Manager, or a proxy before it, who asks: by user:password@ in the URL or in
// that of a proxy, by a client certificate, or by a header, for a proxy may tell users apart by any. So what comes back may be
// for this caller alone.
func (m *Manager) credentialed() bool {
	if len(m.transport.TLSClientConfig.Certificates) > 0 || len(m.proxies.secrets(nil)) > 0 {
		return true
	}
	now, _ := m.headers.now()
	for name := range now {
		if !harmlessHeader(name) {
			return true
		}
	}
	return false
}

// secrets are the values that must be in no trace and no log: of the headers that are given, whole and in their parts,
// also those that the header file has now, of user:password@ in the URL, and in those of the proxies that were used.
func (m *Manager) secrets() []string {
	now, _ := m.headers.now()
	return m.secretsWith(now)
}

// secretsWith are the secrets of a request with these headers.
func (m *Manager) secretsWith(header http.Header) []string {
	return m.proxies.secrets(m.address.secrets(secretValues(header)))
}

// Close closes the connections that no request uses.
func (m *Manager) Close() { m.transport.CloseIdleConnections() }
