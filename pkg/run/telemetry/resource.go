package telemetry

import (
	"net/url"
	"strings"

	resource "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// defaultService is service.name if the environment does not set it.
const defaultService = "pflow"

// NewResource returns the resource that all telemetry is about: the attributes in OTEL_RESOURCE_ATTRIBUTES, and OTEL_SERVICE_NAME, which
// wins over a service.name there (https://opentelemetry.io/docs/specs/otel/resource/sdk/).
func NewResource(version string, getenv func(string) string) (*resource.Resource, error) {
	values := map[string]string{serviceName: defaultService, serviceVersion: version}
	keys := []string{serviceName, serviceVersion}
	for pair := range strings.SplitSeq(getenv("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		key, err := url.PathUnescape(strings.TrimSpace(key))
		value, valueErr := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || valueErr != nil || key == "" {
			return nil, fault.New(fault.Usage, "OTEL_RESOURCE_ATTRIBUTES must be a list such as key=value,key2=value2, with other characters in percent encoding")
		}
		if _, has := values[key]; !has {
			keys = append(keys, key)
		}
		values[key] = value
	}
	if name := getenv("OTEL_SERVICE_NAME"); name != "" {
		values[serviceName] = name
	}
	var a attributes
	for _, key := range keys {
		a.text(valid(key), values[key])
	}
	return &resource.Resource{Attributes: a}, nil
}
