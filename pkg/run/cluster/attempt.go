package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"github.com/tidwall/gjson"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/redact"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// Attempt is an attempt at a node, as it crosses the cluster.
type Attempt struct {
	V int `json:"v"`
	// Request is the document for pflow-exec node.
	Request payload.Packed `json:"request"`
	// TimeoutMS is the longest that the attempt may take, or 0.
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
	// LeaseMS is how long the attempt goes on without a sign of its sender.
	LeaseMS int64 `json:"lease_ms"`
}

// AttemptEnd is how an attempt ended.
type AttemptEnd struct {
	// Lines are what pflow-exec node has printed, without the progress that was reported in time.
	Lines payload.Packed `json:"lines"`
	Exit  int            `json:"exit"`
}

// maxLines is the most bytes that an attempt may print.
const maxLines = 1 << 30

// aliveSignal is the signal of a sender that is alive. Its argument is the next lease in milliseconds.
const aliveSignal = "alive"

// lease returns how long after the beginning of an attempt its sender reports for the next time, and how long the attempt goes on without
// that. Both grow with the age of the attempt, so that the history of a long one stays short.
func lease(age time.Duration) (next, lease time.Duration) {
	next = max(10*time.Second, age/10)
	return next, 3*next + 15*time.Second
}

// CheckSecrets returns a fault if a document has a secret and the cluster would store it unencrypted. Secrets are the given values by
// name, what the variables in env under secret names have, and texts under such names in the document.
func CheckSecrets(codec *payload.Codec, document []byte, values map[string]string, env []string) error {
	if codec != nil {
		return nil
	}
	if _, found := redact.For(values, env).JSON(document); !found {
		return nil
	}
	return SecretFault("The document has a secret")
}

// SecretFault returns the fault of a secret that nothing would encrypt. what says where it is.
func SecretFault(what string) *fault.Fault {
	return fault.New(fault.Usage, "%s, which the cluster would store as it is", what).
		Suggest("Encrypt what is sent: make a key with openssl rand -hex 32 > FILE, and give --codec-key-file FILE here and to the workers")
}

// attemptPrefix begins the id of an attempt.
const attemptPrefix = "pflow-node-"

// NewAttemptID returns an id for an attempt.
func NewAttemptID() string { return attemptPrefix + rand.Text() }

// Execute executes an attempt on a worker of the queue. document is what pflow-exec node reads; the lines that that prints are written to
// out. The exit status is that of pflow-exec node. If ctx ends first, the attempt is cancelled.
func (c *Cluster) Execute(ctx context.Context, queue, id string, document []byte, out io.Writer) (exit int, err error) {
	request, err := c.store.Pack(id, document)
	if err != nil {
		return 0, err
	}
	defer c.store.Remove(request)
	_, first := lease(0)
	a := Attempt{V: Version, Request: request, TimeoutMS: gjson.GetBytes(document, "timeout_ms").Int(), LeaseMS: first.Milliseconds()}
	run, err := retried(ctx, func() (client.WorkflowRun, error) {
		return c.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
			ID: id, TaskQueue: queue, StaticSummary: summary(document),
		}, attemptWorkflowName, a)
	})
	if err != nil {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		return 0, faultOf(err, "the attempt")
	}
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watchAttempt(watching, id, out)
	}()
	var end AttemptEnd
	_, err = retried(ctx, func() (struct{}, error) { return struct{}{}, run.Get(ctx, &end) })
	stop()
	<-watched
	if ctx.Err() != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 4*time.Second) // a runner has 5 seconds to end
		defer cancel()
		if err := c.CancelAttempt(ending, id); err != nil {
			c.log.Warn("The attempt could not be cancelled; it ends when its lease does", "id", id, "error", err)
		}
		return 0, context.Cause(ctx)
	}
	if err != nil {
		return 0, faultOf(err, "the attempt")
	}
	defer c.store.Remove(end.Lines)
	lines, err := c.store.Open(end.Lines)
	if err != nil {
		return 0, err
	}
	defer func() { _ = lines.Close() }()
	if _, err = io.Copy(out, io.LimitReader(lines, maxLines)); err != nil {
		return 0, fault.From(err)
	}
	return end.Exit, nil
}

// summary returns the path and type of the node of a document, which Temporal shows to people.
func summary(document []byte) string {
	found := gjson.GetManyBytes(document, "node", "type")
	return fault.Truncate(found[0].Str+" "+found[1].Str, 200)
}

// CancelAttempt cancels an attempt. It returns when the cluster has taken the request. An attempt that has ended stays as it is.
func (c *Cluster) CancelAttempt(ctx context.Context, id string) error {
	_, err := retried(ctx, func() (struct{}, error) { return struct{}{}, c.client.CancelWorkflow(ctx, id, "") })
	if _, ended := errors.AsType[*serviceerror.NotFound](err); err == nil || ended {
		return nil
	}
	return faultOf(err, "the attempt")
}

// watchAttempt tells the cluster that the sender of an attempt is alive, and writes the progress of the attempt to out, until ctx ends.
func (c *Cluster) watchAttempt(ctx context.Context, id string, out io.Writer) {
	began := time.Now()
	alive := began
	var reported []byte
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if next, lease := lease(time.Since(began)); time.Since(alive) >= next {
			if err := c.client.SignalWorkflow(ctx, id, "", aliveSignal, lease.Milliseconds()); err == nil {
				alive = time.Now()
			}
		}
		var progress []byte
		if c.lastHeartbeat(ctx, id, &progress) != nil || len(progress) == 0 || bytes.Equal(progress, reported) {
			continue
		}
		if _, err := out.Write(append(progress, '\n')); err != nil {
			return
		}
		reported = progress
	}
}

// errNoHeartbeat is the error of lastHeartbeat before the first heartbeat.
var errNoHeartbeat = errors.New("no heartbeat has come")

// lastHeartbeat decodes the details of the last heartbeat of the running activity of a workflow.
func (c *Cluster) lastHeartbeat(ctx context.Context, id string, to any) error {
	d, err := c.client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return err
	}
	return c.heartbeatIn(d, to)
}

func (c *Cluster) heartbeatIn(d *workflowservice.DescribeWorkflowExecutionResponse, to any) error {
	if len(d.PendingActivities) == 0 || d.PendingActivities[0].GetHeartbeatDetails() == nil {
		return errNoHeartbeat
	}
	return c.data.FromPayloads(d.PendingActivities[0].GetHeartbeatDetails(), to)
}
