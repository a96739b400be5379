package runner_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/pflow-suite/pflow/pkg/engine/runner"
	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
)

func Example() {
	dir, err := os.MkdirTemp("", "runner-example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "hello.json")
	_ = os.WriteFile(path, []byte(`{"nodes": [{"id": "hello", "type": "echo"}]}`), 0o600)
	h, _ := home.Open(filepath.Join(dir, "home"), "")
	host := &runner.Host{
		Home: h, Read: func(name string, _ int64) ([]byte, error) { return os.ReadFile(name) }, Suite: func() (string, error) { return dir, nil }, Log: slog.New(slog.DiscardHandler),
		Warn: func(string, ...any) {}, Advise: func(*fault.Fault) {},
	}

	ctx := context.Background()
	request, err := runner.Load(host, runner.Source{Workflow: path}, runner.Options{Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	launch, err := runner.Resolve(ctx, host, request)
	if err != nil {
		fmt.Println(err)
		return
	}
	last, err := launch.Execute(ctx, runner.Observer{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(last.Status)
	// Output: completed
}
