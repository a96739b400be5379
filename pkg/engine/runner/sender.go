package runner

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/pflow-suite/pflow/pkg/engine/node"
	"github.com/pflow-suite/pflow/pkg/fault"
)

// The causes of an attempt whose sender is gone: it has closed its end of the pipe, or has sent no sign for a long time.
var (
	errSenderGone   = fault.New(fault.Execution, "The run that has sent the attempt is gone")
	errSenderSilent = fault.New(fault.Execution, "The run that has sent the attempt has given no sign for too long: it is gone, or the connection is lost")
)

// senderSilence is the longest time between two signs of a sender during the first minutes of an attempt. Later it is a third of the
// attempt's age: what has worked for long is not given up for a short interruption.
const senderSilence = 45 * time.Second

// watchSender reads what follows a request on its pipe and calls gone when that closes, or when no more signs come from a sender that
// has sent any: what carries the request, such as a scheduler of jobs, may keep the pipe open.
func watchSender(pipe io.Reader, gone context.CancelCauseFunc) {
	var silent *time.Timer
	begun := time.Now()
	for buf := make([]byte, 512); ; {
		n, err := pipe.Read(buf)
		if bytes.IndexByte(buf[:n], node.Sign) >= 0 {
			if silent == nil {
				silent = time.AfterFunc(senderSilence, func() { gone(errSenderSilent) })
				defer silent.Stop()
			}
			silent.Reset(max(senderSilence, time.Since(begun)/3))
		}
		if err != nil {
			gone(errSenderGone)
			return
		}
	}
}
