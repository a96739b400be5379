package agent

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/process"
)

// The causes for which a call is stopped.
var (
	errTimeout  = errors.New("the timeout has passed")
	errTurns    = errors.New("the turns are used up")
	errLongLine = errors.New("a line is too long")
	errLingers  = errors.New("the result is complete")
)

const (
	// grace is the time between SIGTERM and SIGKILL. It is shorter than the time that the runner gives this program.
	grace = 4 * time.Second
	// linger is the default of Host.Linger.
	linger = 10 * time.Second
	// maxShown is the maximum number of bytes that a message shows of standard error.
	maxShown = 2000
	// progressInterval is the minimum time between two calls of Host.Progress.
	progressInterval = 250 * time.Millisecond
)

// call runs the agent once. The job takes over the report, also if the call fails.
func (j *job) call(ctx context.Context, prompt, resume string) (*report, error) {
	args, err := j.backend.arguments(j, resume)
	if err != nil {
		return nil, fault.New(fault.Execution, "Cannot write a file for the agent: %v", fault.Reason(err))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &stream{job: j, stop: stop, lingers: time.AfterFunc(math.MaxInt64, func() { stop(errLingers) })}
	out := &lines{take: s.line, long: func() { stop(errLongLine) }, limit: maxLine}
	tail := process.NewTail(maxShown)
	stderr := io.Writer(tail)
	if j.host.Stderr != nil {
		stderr = io.MultiWriter(tail, j.host.Stderr)
	}
	exit, err := process.Run(ctx, process.Command{
		Path: j.command[0], Args: append(j.command[1:len(j.command):len(j.command)], args...), Dir: j.dir, Env: j.env, Marks: []string{j.mark},
		Stdin: strings.NewReader(prompt), Stdout: out, Stderr: stderr, Grace: grace,
	})
	out.end()
	s.lingers.Stop()
	if errors.Is(err, errLingers) || s.over && errors.Is(err, errTimeout) { // the result was complete
		exit, err = process.Exit{}, nil
	}
	j.add(&s.report)
	if err != nil {
		return nil, j.stopped(err, s)
	}
	if f := j.ended(s, exit, strings.TrimSpace(tail.String())); f != nil {
		return nil, j.redacted(f)
	}
	return &s.report, nil
}

// stream reads the output of the agent.
type stream struct {
	report

	job  *job
	stop context.CancelCauseFunc
	// noise is the beginning of the first line that is not a message.
	noise string
	lines int // number of messages
	// lingers stops the agent if it does not end after its result.
	lingers *time.Timer
}

// line reads one line.
func (s *stream) line(line []byte) {
	line = trimmed(line)
	if len(line) == 0 {
		return
	}
	if line[0] != '{' || !gjson.ValidBytes(line) {
		if s.noise == "" {
			s.noise = strconv.QuoteToGraphic(fault.Truncate(string(line), 200))
		}
		return
	}
	s.lines++
	activity := s.job.backend.read(line, &s.report)
	s.linger(activity)
	if s.job.turns+s.turns > s.job.in.MaxTurns {
		s.stop(errTurns)
		return
	}
	s.job.reportProgress(&s.report, activity)
}

// linger starts the timer that stops the agent after its result. Another activity stops the timer.
func (s *stream) linger(activity string) {
	if activity != "" {
		s.over = false
	}
	if !s.over {
		s.lingers.Stop()
		return
	}
	s.lingers.Reset(cmp.Or(s.job.host.Linger, linger))
}

func trimmed(line []byte) []byte {
	for len(line) > 0 && line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	return line
}

// reportProgress calls Progress, but not too often.
func (j *job) reportProgress(r *report, activity string) {
	if activity == "" || j.host.Progress == nil {
		return
	}
	now := time.Now()
	if now.Sub(j.lastProgress) < progressInterval {
		return
	}
	j.lastProgress = now
	j.host.Progress(float64(j.turns+r.turns), float64(j.in.MaxTurns), fault.Truncate(j.secrets.Text(activity), 80), j.usedWith(r))
}
