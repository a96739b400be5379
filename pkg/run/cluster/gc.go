package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
)

// Removed says what Collect has removed from the shared folder.
type Removed struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

// settled is the least age of a file that Collect removes: a younger one may be of work that is about to be sent.
const settled = time.Hour

// Collect removes files from the shared folder that nothing needs: those of attempts that have ended, and those of runs that the namespace
// does not keep any more.
func (c *Cluster) Collect(ctx context.Context) (done Removed, err error) {
	entries, err := os.ReadDir(c.store.Dir)
	if err != nil {
		return done, fault.New(fault.NotFound, "Cannot read the folder of blobs: %v", fault.Reason(err))
	}
	needed := map[string]bool{}
	for _, e := range entries {
		id := ownerOf(e.Name())
		info, err := e.Info()
		if id == "" || err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < settled {
			continue
		}
		need, known := needed[id]
		if !known {
			if need, err = c.needs(ctx, id); err != nil {
				return done, err
			}
			needed[id] = need
		}
		if need {
			continue
		}
		if err := os.Remove(filepath.Join(c.store.Dir, e.Name())); err == nil {
			done.Files, done.Bytes = done.Files+1, done.Bytes+info.Size()
		} else if !errors.Is(err, os.ErrNotExist) {
			return done, fault.New(fault.Execution, "Cannot remove a file of the folder of blobs: %v", err)
		}
	}
	return done, nil
}

// ownerOf returns the id of the workflow that a file of the shared folder belongs to, or "" if it is another file.
func ownerOf(file string) string {
	file = strings.TrimPrefix(file, payload.HiddenPrefix)
	i := strings.LastIndexByte(file, '-')
	if i < 0 || len(file)-i-1 != randomLength {
		return ""
	}
	id := file[:i]
	if strings.HasPrefix(id, attemptPrefix) && len(id) == len(attemptPrefix)+randomLength || strings.HasPrefix(id, "r01") && len(id) == 1+ulidLength {
		return id
	}
	return ""
}

const (
	randomLength = 26 // of rand.Text
	ulidLength   = 26
)

// needs reports whether the files of a workflow may still be read.
func (c *Cluster) needs(ctx context.Context, id string) (bool, error) {
	d, err := retried(ctx, func() (enumspb.WorkflowExecutionStatus, error) {
		d, err := c.client.DescribeWorkflowExecution(ctx, id, "")
		return d.GetWorkflowExecutionInfo().GetStatus(), err
	})
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return false, nil
	}
	if err != nil {
		return false, c.faultFor(ctx, err, id)
	}
	return !strings.HasPrefix(id, attemptPrefix) || d == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}
