package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
)

// Config is how a signal is sent.
type Config struct {
	// URL is what the requests are posted to.
	URL     string
	Headers http.Header
	// JSON is true for the protocol http/json, and false for http/protobuf.
	JSON bool
	Gzip bool
	// Timeout limits one request.
	Timeout time.Duration
	// TLS is nil for the system's defaults.
	TLS *tls.Config
}

// Enabled reports whether a signal is to be sent: OTEL_SDK_DISABLED is not true, and OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER or
// OTEL_LOGS_EXPORTER is not none. Another exporter than otlp is an error.
func Enabled(s Signal, getenv func(string) string) (bool, error) {
	switch value := getenv("OTEL_SDK_DISABLED"); strings.ToLower(value) {
	case "true":
		return false, nil
	case "", "false":
	default:
		return false, fault.New(fault.Usage, "OTEL_SDK_DISABLED must be true or false, got %q", fault.Truncate(value, 50))
	}
	name := "OTEL_" + strings.ToUpper(string(s)) + "_EXPORTER"
	switch value := getenv(name); value {
	case "", "otlp":
		return true, nil
	case "none":
		return false, nil
	default:
		return false, fault.New(fault.Usage, "%s is %q: pflow-otel sends by otlp, or nothing with none", name, fault.Truncate(value, 50))
	}
}

// Delta reports whether the sums and histograms of metrics are sent as what was added since the last time, instead of in all:
// OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE is delta or lowmemory.
func Delta(getenv func(string) string) (bool, error) {
	const name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	switch value := strings.ToLower(getenv(name)); value {
	case "", "cumulative":
		return false, nil
	case "delta", "lowmemory":
		return true, nil
	default:
		return false, fault.New(fault.Usage, "%s must be cumulative, delta or lowmemory, got %q", name, fault.Truncate(value, 50))
	}
}

// maxCertificate is the most bytes of a file with certificates or a key.
const maxCertificate = 1 << 20

// FromEnvironment returns the configuration of a signal: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _COMPRESSION, _PROTOCOL,
// _CERTIFICATE, _CLIENT_CERTIFICATE and _CLIENT_KEY, each of which OTEL_EXPORTER_OTLP_TRACES_ENDPOINT and so on replace for one
// signal (https://opentelemetry.io/docs/specs/otel/protocol/exporter/). The error is a fault that names the variable.
func FromEnvironment(s Signal, getenv func(string) string) (*Config, error) {
	e := environment{signal: s, getenv: getenv}
	c := &Config{Timeout: 10 * time.Second}
	var err error
	if c.URL, err = e.url(); err != nil {
		return nil, err
	}
	if c.Headers, err = e.headers(); err != nil {
		return nil, err
	}
	if name, value := e.get("TIMEOUT"); value != "" {
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 {
			return nil, fault.New(fault.Usage, "%s must be a number of milliseconds above 0, got %q", name, fault.Truncate(value, 50))
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	if c.Gzip, err = e.oneOf("COMPRESSION", "gzip", "none"); err != nil {
		return nil, err
	}
	if c.JSON, err = e.oneOf("PROTOCOL", "http/json", "http/protobuf"); err != nil {
		return nil, err
	}
	c.TLS, err = e.tls()
	return c, err
}

// environment reads the variables of a signal.
type environment struct {
	signal Signal
	getenv func(string) string
}

// get returns the variable of the signal, or the one of all signals, and its value.
func (e environment) get(name string) (variable, value string) {
	variable = "OTEL_EXPORTER_OTLP_" + strings.ToUpper(string(e.signal)) + "_" + name
	if value = strings.TrimSpace(e.getenv(variable)); value != "" {
		return variable, value
	}
	variable = "OTEL_EXPORTER_OTLP_" + name
	return variable, strings.TrimSpace(e.getenv(variable))
}

// url returns where the signal is posted. The variable of one signal is a whole URL; the one of all signals is what the path of each is
// appended to.
func (e environment) url() (string, error) {
	name, value := e.get("ENDPOINT")
	whole := value != "" && name != "OTEL_EXPORTER_OTLP_ENDPOINT"
	if value == "" {
		value = "http://localhost:4318"
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fault.New(fault.Usage, "%s must be a URL such as http://localhost:4318", name)
	}
	if whole {
		if u.Path == "" {
			u.Path = "/"
		}
		return u.String(), nil
	}
	return u.JoinPath("v1", string(e.signal)).String(), nil
}

// headers parses key=value pairs that are separated by commas, with values in percent encoding.
func (e environment) headers() (http.Header, error) {
	name, value := e.get("HEADERS")
	headers := http.Header{}
	for pair := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, text, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		text, err := url.PathUnescape(strings.TrimSpace(text))
		if !ok || err != nil || key == "" || strings.Trim(strings.ToLower(key), "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") != "" || strings.ContainsAny(text, "\r\n\x00") {
			return nil, fault.New(fault.Usage, "%s must be a list such as key=value,key2=value2", name) // its values are secret
		}
		headers.Set(key, text)
	}
	return headers, nil
}

// oneOf reports whether a variable has the first of two values. The second is the default.
func (e environment) oneOf(name, first, second string) (bool, error) {
	variable, value := e.get(name)
	switch value {
	case first:
		return true, nil
	case second, "":
		return false, nil
	}
	return false, fault.New(fault.Usage, "%s must be %s or %s, got %q", variable, first, second, fault.Truncate(value, 50))
}

// tls reads the certificates.
func (e environment) tls() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	caName, ca := e.get("CERTIFICATE")
	certName, cert := e.get("CLIENT_CERTIFICATE")
	keyName, key := e.get("CLIENT_KEY")
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	if ca != "" {
		pem, err := readFile(caName, ca)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fault.New(fault.Usage, "%s names a file without PEM certificates: %s", caName, ca)
		}
	}
	if (cert == "") != (key == "") {
		return nil, fault.New(fault.Usage, "%s and %s belong together: set both or neither", certName, keyName)
	}
	if cert == "" {
		return config, nil
	}
	certPEM, err := readFile(certName, cert)
	if err != nil {
		return nil, err
	}
	keyPEM, err := readFile(keyName, key)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, fault.New(fault.Usage, "%s and %s are not a certificate and its key in PEM: %v", certName, keyName, err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// readFile reads the file that a variable names.
func readFile(variable, path string) ([]byte, error) {
	content, err := input.RegularFile(path, variable, maxCertificate)
	if err != nil {
		return nil, fault.New(fault.Usage, "%s names the file %s, which cannot be read: %v", variable, path, fault.Reason(err))
	}
	return content, nil
}
