package telemetry

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/pflow-suite/pflow/pkg/event"
	"github.com/pflow-suite/pflow/pkg/run/otlp"
)

// Filter reads the events of runs and passes on the telemetry that it derives from them.
type Filter struct {
	Resource *resource.Resource
	// Version is the version of the suite.
	Version string
	// Values is as in Translator, and Delta as in Meter.
	Values, Delta bool
	// Tee receives the bytes that are read. It may be nil.
	Tee io.Writer
	// Put receives the batches of each signal that is sent. It must not wait.
	Put map[otlp.Signal]func(otlp.Batch)
	Log *slog.Logger
}

const (
	// flushPeriod is the longest time that a span waits for others.
	flushPeriod = time.Second
	// measurePeriod is the time between two collections of the metrics, as in the SDKs.
	measurePeriod = time.Minute
)

// Run reads events from in until it ends. Lines that are not events are passed on and otherwise ignored. The error is that of in or Tee;
// what was read is passed on as telemetry nevertheless.
func (f *Filter) Run(in io.Reader) error {
	out := &exporter{resource: f.Resource, put: f.Put, scope: &common.InstrumentationScope{Name: "github.com/pflow-suite/pflow", Version: f.Version}}
	t := &Translator{Values: f.Values}
	if f.Put[otlp.Traces] != nil {
		t.Span = out.span
	}
	if f.Put[otlp.Logs] != nil {
		t.Record = out.record
	}
	if f.Put[otlp.Metrics] != nil {
		t.Meter = NewMeter(time.Now())
		t.Meter.Delta = f.Delta
	}
	var mu sync.Mutex
	ctx, cancel := context.WithCancel(context.Background())
	var flushing sync.WaitGroup
	flushing.Go(func() { f.flush(ctx, &mu, out, t.Meter) })
	strange, cut := 0, 0
	l := &lines{
		in: bufio.NewReaderSize(in, 64<<10), tee: f.Tee, strange: func() { strange++ }, cut: func() { cut++ },
		apply: func(e *event.Event) {
			mu.Lock()
			defer mu.Unlock()
			t.Apply(e)
		},
	}
	err := l.run()
	cancel()
	flushing.Wait()
	t.Close()
	out.flush()
	if t.Meter != nil {
		out.measure(t.Meter, time.Now())
	}
	if cut > 0 {
		f.Log.Warn(fmt.Sprintf("lines of more than %d MiB were read only up to their outputs", maxWhole>>20), "lines", cut)
	}
	if strange > 0 {
		f.Log.Warn("lines are no events of this version and were left out", "lines", strange)
	}
	if t.Unknown > 0 {
		f.Log.Warn("events belong to runs whose beginning was not in the input, and were left out", "events", t.Unknown)
	}
	return err
}

// flush passes on what waits, from time to time.
func (f *Filter) flush(ctx context.Context, mu *sync.Mutex, out *exporter, m *Meter) {
	ticker := time.NewTicker(flushPeriod)
	defer ticker.Stop()
	measured := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			mu.Lock()
			out.flush()
			if m != nil && now.Sub(measured) >= measurePeriod {
				measured = now
				out.measure(m, now)
			}
			mu.Unlock()
		}
	}
}
