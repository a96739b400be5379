package main

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home/input"
	"github.com/pflow-suite/pflow/pkg/run/otlp"
	"github.com/pflow-suite/pflow/pkg/run/telemetry"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type sendCommand struct {
	Tee    bool `help:"Pass standard input on to standard output, byte for byte."`
	Print  bool `help:"Print what would be sent, a request a line in OTLP's JSON, instead of sending it."`
	Values bool `help:"Send also the values of inputs, parameters and outputs, which are otherwise left out."`
}

const (
	// patience is how long the end of the input is outlived without a request that succeeds.
	patience = 10 * time.Second
	// grace is how long the input is read after a signal, for the last events of a run that the same signal ends.
	grace = 5 * time.Second
)

// Run reads standard input to its end, sends the telemetry, and fails if the collector has not taken all of it.
func (c *sendCommand) Run(app *cli.App) error {
	if c.Tee && c.Print {
		return fault.New(fault.Usage, "--tee and --print both write to standard output: give one of them")
	}
	resource, err := telemetry.NewResource(cli.Version, app.Getenv)
	if err != nil {
		return err
	}
	f := &telemetry.Filter{Resource: resource, Version: cli.Version, Values: c.Values, Put: map[otlp.Signal]func(otlp.Batch){}, Log: app.Log}
	if f.Delta, err = otlp.Delta(app.Getenv); err != nil {
		return err
	}
	if c.Tee {
		f.Tee = app.Stdout
	}
	var printing error
	sender := &senders{app: app, bySignal: map[otlp.Signal]*otlp.Sender{}}
	for _, s := range otlp.Signals() {
		enabled, err := otlp.Enabled(s, app.Getenv)
		if err != nil {
			return err
		}
		switch {
		case !enabled:
		case c.Print:
			f.Put[s] = func(b otlp.Batch) {
				line, err := otlp.JSON(b)
				if err == nil {
					_, err = app.Stdout.Write(append(line, '\n'))
				}
				if printing == nil {
					printing = err
				}
			}
		default:
			if f.Put[s], err = sender.add(s); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(app.Context))
	defer cancel()
	stop := context.AfterFunc(app.Context, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	err = f.Run(input.Reader(ctx, app.Stdin))
	if lost := sender.close(); lost != nil {
		if c.Tee { // standard output is the input
			return app.Reported(lost)
		}
		return lost
	}
	if app.Context.Err() != nil {
		return context.Cause(app.Context)
	}
	if err == nil {
		err = printing
	}
	return err
}

// senders are the senders of the signals.
type senders struct {
	app      *cli.App
	bySignal map[otlp.Signal]*otlp.Sender
}

// add adds a sender of a signal, and returns what gives it a batch.
func (s *senders) add(signal otlp.Signal) (func(otlp.Batch), error) {
	config, err := otlp.FromEnvironment(signal, s.app.Getenv)
	if err != nil {
		return nil, err
	}
	one := otlp.NewSender(context.WithoutCancel(s.app.Context), signal, config, otlp.Options{
		Dir: os.TempDir(), Proxy: http.ProxyFromEnvironment, UserAgent: "pflow-otel/" + cli.Version, Log: s.app.Log,
	})
	s.bySignal[signal] = one
	return one.Put, nil
}

// close waits until all is sent. It returns a fault if something was not delivered.
func (s *senders) close() error {
	type end struct {
		signal      otlp.Signal
		undelivered int64
		why         error
	}
	ends := make(chan end, len(s.bySignal))
	for signal, one := range s.bySignal {
		go func() {
			undelivered, why := one.Close(patience)
			ends <- end{signal, undelivered, why}
		}()
	}
	lost := map[string]any{}
	var failed *fault.Fault
	for range s.bySignal {
		if e := <-ends; e.undelivered > 0 {
			lost[string(e.signal)] = e.undelivered
			failed = fault.New(fault.Unavailable, "Not everything was delivered: %v", fault.Reason(e.why))
		}
	}
	if failed == nil {
		return nil
	}
	return failed.Detail("undelivered", lost).Suggest("See that a collector listens at OTEL_EXPORTER_OTLP_ENDPOINT (by default http://localhost:4318)").
		Then(fault.Command("Send the run again", "pflow-exec events RUN | pflow-otel"))
}
