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
	headers   *headers
	transport *http.Transport
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
	transport, f := newTransport(c)
	if f != nil {
		return nil, f
	}
	return &Manager{address: at, timeout: c.Timeout, headers: h, transport: transport}, nil
}

// Base is the URL in front of every route, without a slash at its end and without credentials.
func (m *Manager) Base() string { return m.address.base }

// Credentialed says whether requests tell the Manager who asks: by a header such as Authorization, Cookie or X-Api-Key,
// by user:password@ in the URL or by a client certificate. So what comes back may be for this caller alone.
func (m *Manager) Credentialed() bool {
	if len(m.transport.TLSClientConfig.Certificates) > 0 {
		return true
	}
	now, _ := m.headers.now()
	for name := range now {
		if secretHeader(name) {
			return true
		}
	}
	return false
}

// Secrets are the values that must be in no trace and no log: of headers that hold credentials, whole and in their
// parts, also those that the header file has now.
func (m *Manager) Secrets() []string {
	now, _ := m.headers.now()
	return m.address.secrets(secretValues(now))
}

// Close closes the connections that no request uses.
func (m *Manager) Close() { m.transport.CloseIdleConnections() }
