package cluster

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// Version is the version of what clients and workers send to each other. A worker takes work of its version and of older ones.
const Version = 1

// Config says how to reach a cluster.
type Config struct {
	// Env is the environment, whose variables TEMPORAL_… name the address, the namespace, TLS and the API key, or a file with them.
	Env []string
	// Blobs is the folder that all machines share, or empty.
	Blobs string
	// Codec encrypts all payloads, unless it is nil.
	Codec *payload.Codec
	Log   *slog.Logger
	// Patient waits for a cluster that cannot be reached as long as a command that is connected does, two minutes, not 10 seconds.
	Patient bool
}

// Cluster is a connection to a namespace of a cluster.
type Cluster struct {
	client client.Client
	data   converter.DataConverter
	store  *payload.Store
	log    *slog.Logger
}

// outage is how long a cluster may be unreachable before a command gives up.
const outage = 2 * time.Minute

// refused is how long a cluster may be unreachable when a command begins.
const refused = 10 * time.Second

// Connect connects to the cluster that the environment names. A cluster that cannot be reached within 10 seconds is an unavailable, unless
// the configuration says otherwise.
func Connect(ctx context.Context, c Config) (*Cluster, error) {
	options, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: environment(c.Env)})
	if err != nil {
		return nil, fault.New(fault.Usage, "The configuration of Temporal cannot be used: %v", err).
			Suggest("See the variables TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_TLS, TEMPORAL_API_KEY and TEMPORAL_CONFIG_FILE")
	}
	cluster := &Cluster{data: converter.GetDefaultDataConverter(), store: &payload.Store{Dir: c.Blobs, Codec: c.Codec}, log: c.Log}
	if c.Codec != nil {
		cluster.data = converter.NewCodecDataConverter(cluster.data, c.Codec)
	}
	options.DataConverter = cluster.data
	options.FailureConverter = failures(cluster.data, c.Codec != nil)
	options.Logger = log.NewStructuredLogger(c.Log)
	patience := refused
	if c.Patient {
		patience = outage
	}
	if cluster.client, err = retriedFor(ctx, patience, func() (client.Client, error) {
		dialing, cancel := context.WithTimeout(ctx, refused)
		defer cancel()
		return client.DialContext(dialing, options)
	}); err == nil {
		err = cluster.awaitNamespace(ctx, cmp.Or(options.Namespace, client.DefaultNamespace))
	}
	if err != nil {
		if f, ok := errors.AsType[*fault.Fault](err); ok {
			return nil, f
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		address := options.HostPort
		if address == "" {
			address = client.DefaultHostPort
		}
		f := fault.New(fault.Unavailable, "Cannot reach Temporal at %s: %v", address, err)
		return nil, f.Suggest("Start a server there, or name another with TEMPORAL_ADDRESS; for development: temporal server start-dev")
	}
	return cluster, nil
}

// awaitNamespace returns a fault if a namespace does not exist. A cluster that has just begun may not know it for some seconds.
func (c *Cluster) awaitNamespace(ctx context.Context, name string) error {
	_, err := retriedFor(ctx, refused, func() (*workflowservice.DescribeNamespaceResponse, error) {
		asking, cancel := context.WithTimeout(ctx, refused)
		defer cancel()
		return c.client.WorkflowService().DescribeNamespace(asking, &workflowservice.DescribeNamespaceRequest{Namespace: name})
	})
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); !missing {
		return nil // also if the caller may not ask
	}
	c.client.Close()
	return fault.New(fault.NotFound, "The cluster has no namespace %s", name).Suggest("Name another with TEMPORAL_NAMESPACE, or create it: temporal operator namespace create")
}

// Close ends the connection.
func (c *Cluster) Close() { c.client.Close() }

// retried calls a function again while the cluster cannot be reached, for the time of an outage.
func retried[T any](ctx context.Context, call func() (T, error)) (T, error) {
	return retriedFor(ctx, outage, call)
}

// retriedFor calls a function again while the cluster cannot be reached, for some time.
func retriedFor[T any](ctx context.Context, patience time.Duration, call func() (T, error)) (T, error) {
	var since time.Time
	pauses := backoff.NewExponentialBackOff()
	pauses.MaxInterval = 2 * time.Second
	return backoff.Retry(ctx, func() (T, error) {
		value, err := call()
		if err == nil || ctx.Err() != nil || !unreachable(err) {
			if err != nil {
				err = backoff.Permanent(err)
			}
			return value, err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if time.Since(since) > patience {
			err = backoff.Permanent(err)
		}
		return value, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
}

// unreachable reports whether an error is that of a cluster that cannot be reached.
func unreachable(err error) bool {
	if _, ok := errors.AsType[*serviceerror.Unavailable](err); ok {
		return true
	}
	if _, ok := errors.AsType[*serviceerror.NamespaceNotFound](err); ok { // it was there when the command began
		return true
	}
	_, ok := errors.AsType[*serviceerror.DeadlineExceeded](err)
	return ok || errors.Is(err, context.DeadlineExceeded)
}

// environment looks variables up for the configuration of Temporal.
type environment []string

func (e environment) Environ() []string { return e }

func (e environment) LookupEnv(name string) (string, bool) {
	value := process.Getenv(e, name)
	return value, value != ""
}
