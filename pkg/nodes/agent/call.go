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

// Why a call is stopped.
var (
	errLate  = errors.New("the time is over")
	errTurns = errors.New("the turns are used up")
	errLong  = errors.New("a line is too long")
	errOver  = errors.New("the result is there")
)

const (
	// grace is the time between SIGTERM and SIGKILL, less than the runner gives this program.
	grace = 4 * time.Second
	// linger is how long an agent may go on after its result by default.
	linger = 10 * time.Second
	// maxSaid is the most bytes of standard error that a message quotes.
	maxSaid = 2000
	// progressEvery is how often progress is told.
	progressEvery = 250 * time.Millisecond
)

// call runs the agent once. What it reports is taken into the job, also when it fails.
func (j *job) call(ctx context.Context, prompt, resume string) (*report, error) {
	args, err := j.backend.arguments(j, resume)
	if err != nil {
		return nil, fault.New(fault.Execution, "Cannot write a file for the agent: %v", fault.Reason(err))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &stream{job: j, stop: stop, lingers: time.AfterFunc(math.MaxInt64, func() { stop(errOver) })}
	out := &lines{take: s.line, long: func() { stop(errLong) }, limit: maxLine}
	said := process.NewTail(maxSaid)
	stderr := io.Writer(said)
	if j.host.Stderr != nil {
		stderr = io.MultiWriter(said, j.host.Stderr)
	}
	exit, err := process.Run(ctx, process.Command{
		Path: j.command[0], Args: append(j.command[1:len(j.command):len(j.command)], args...), Dir: j.dir, Env: j.env, Marks: []string{j.mark},
		Stdin: strings.NewReader(prompt), Stdout: out, Stderr: stderr, Grace: grace,
	})
	out.end()
	s.lingers.Stop()
	if errors.Is(err, errOver) || s.over && errors.Is(err, errLate) { // it was only to end
		exit, err = process.Exit{}, nil
	}
	j.add(&s.report)
	if err != nil {
		return nil, j.stopped(err, s)
	}
	if f := j.ended(s, exit, strings.TrimSpace(said.String())); f != nil {
		return nil, j.cleaned(f)
	}
	return &s.report, nil
}

// stream reads what the agent prints.
type stream struct {
	report

	job  *job
	stop context.CancelCauseFunc
	// noise is the beginning of the first line that is no message.
	noise string
	lines int // that are messages
	// lingers ends the agent when its result is there and it does not.
	lingers *time.Timer
}

// line takes one line.
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
	does := s.job.backend.read(line, &s.report)
	s.linger(does)
	if s.job.turns+s.turns > s.job.in.MaxTurns {
		s.stop(errTurns)
		return
	}
	s.job.tell(&s.report, does)
}

// linger lets the agent go on for a while when it has told its result, and as it will when it does something again.
func (s *stream) linger(does string) {
	if does != "" {
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

// tell tells how far it is, not too often.
func (j *job) tell(r *report, does string) {
	if does == "" || j.host.Progress == nil {
		return
	}
	now := time.Now()
	if now.Sub(j.lastSaid) < progressEvery {
		return
	}
	j.lastSaid = now
	j.host.Progress(float64(j.turns+r.turns), float64(j.in.MaxTurns), fault.Truncate(j.secrets.Text(does), 80))
}
