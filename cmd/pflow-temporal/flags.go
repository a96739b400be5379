package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/run/cluster"
	"github.com/pflow-suite/pflow/pkg/run/cluster/payload"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// clusterFlags are the flags of all commands that read or send payloads.
type clusterFlags struct {
	Blobs        string `help:"A folder that all machines share, for what is longer than 1 MiB when compressed." placeholder:"DIR" complete:"dir"`
	CodecKeyFile string `name:"codec-key-file" help:"Encrypt all payloads with AES-256-GCM. The file holds the key, 64 hexadecimal digits; it is the same for the workers and all commands." placeholder:"FILE"`

	// patient waits two minutes for a cluster that cannot be reached.
	patient bool
}

// maxKeyFile is the most bytes of a file with a key.
const maxKeyFile = 1 << 10

// connect connects to the cluster of the environment.
func (f *clusterFlags) connect(ctx context.Context, app *cli.App) (*cluster.Cluster, error) {
	codec, err := f.codec(app)
	if err != nil {
		return nil, err
	}
	if f.Blobs != "" {
		if f.Blobs, err = filepath.Abs(f.Blobs); err != nil {
			return nil, fault.From(err)
		}
		if info, err := os.Stat(f.Blobs); err != nil || !info.IsDir() {
			return nil, fault.New(fault.Usage, "--blobs: the folder %s does not exist", f.Blobs).Suggest("Give a folder that all machines share")
		}
	}
	return cluster.Connect(ctx, cluster.Config{Env: app.Env, Blobs: f.Blobs, Codec: codec, Log: app.Log, Patient: f.patient})
}

// codec returns the codec of the key file, or nil without one.
func (f *clusterFlags) codec(app *cli.App) (*payload.Codec, error) {
	if f.CodecKeyFile == "" {
		return nil, nil
	}
	if f.CodecKeyFile == "-" {
		return nil, fault.New(fault.Usage, "--codec-key-file names a file, not standard input")
	}
	text, err := app.ReadArgument(f.CodecKeyFile, maxKeyFile)
	if err != nil {
		return nil, err
	}
	return payload.ParseKey(string(text))
}

// queueFlag is the flag of the commands that send or take work.
type queueFlag struct {
	Queue string `help:"The task queue." required:"" placeholder:"QUEUE"`
}

// check returns a fault for a queue that cannot be one.
func (f *queueFlag) check() error {
	if f.Queue == "" || len(f.Queue) > 200 {
		return fault.New(fault.Usage, "--queue needs a name of at most 200 bytes")
	}
	return nil
}
