// Command pflow-otel sends the events of runs as OpenTelemetry traces, metrics and logs.
package main

import (
	"os"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type grammar struct {
	cli.Common

	Send sendCommand `cmd:"" default:"withargs" hidden:"" example:"pflow-exec run disk.json | pflow-otel --tee | jq -r .event"`
}

const description = `Sends runs to an OpenTelemetry collector: reads events from standard input, as pflow-exec run, watch and events print them, and sends traces, metrics and logs by OTLP/HTTP. The OTEL_EXPORTER_OTLP_… variables say where to; the default is http://localhost:4318.`

func main() {
	os.Exit(cli.Main("pflow-otel", description, &grammar{},
		cli.System{Args: os.Args[1:], Env: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Exit: os.Exit}))
}
