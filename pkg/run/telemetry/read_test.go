package telemetry

import (
	"bufio"
	"io"
	"strings"
	"time"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// read applies a stream to a Translator.
func read(stream string, tee io.Writer, t *Translator, strange *int) error {
	l := &lines{in: bufio.NewReaderSize(strings.NewReader(stream), 64<<10), tee: tee, apply: t.Apply, strange: func() { *strange++ }, cut: func() {}}
	return l.run()
}
