package veloflux_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pflow-suite/pflow/internal/velofluxserver"
	"github.com/pflow-suite/pflow/pkg/veloflux"
)

// A program that has a model write SQL gives it the resources, verifies the SQL, and shows the error to the model if the
// SQL is wrong.
func Example() {
	server, err := velofluxserver.Listen() // in the place of a veloFlux Manager
	if err != nil {
		panic(err)
	}
	defer server.Close()

	manager, err := veloflux.NewManager(veloflux.Config{URL: server.URL, Timeout: 10 * time.Second})
	if err != nil {
		panic(err)
	}
	runtime, err := veloflux.NewRuntime(manager, veloflux.Options{
		CacheTTL: time.Minute,
		Trace:    veloflux.SinkFunc(func(e veloflux.Entry) error { fmt.Println("trace:", e.Kind, e.Name, e.OK); return nil }),
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	defer func() { _ = runtime.Close(ctx) }()

	schema, err := runtime.ReadResource(ctx, "veloFlux://streams/schema?name=user")
	if err != nil {
		panic(err)
	}
	fmt.Println(string(schema.Document))

	for _, sql := range []string{"SELCT a FROM user", "SELECT a FROM user LIMIT 5"} {
		args, _ := json.Marshal(map[string]string{"sql": sql})
		answer, err := runtime.CallTool(ctx, "pipelines.verify", args)
		if e, ok := errors.AsType[*veloflux.Error](err); ok {
			fmt.Println(e.Code, e.Details["line"], e.Details["column"])
			continue
		}
		var verified struct {
			Valid    bool
			Warnings []veloflux.Warning
		}
		if err := json.Unmarshal(answer, &verified); err != nil {
			panic(err)
		}
		fmt.Println(verified.Valid, verified.Warnings[0].Construct)
	}

	// Output:
	// trace: resource_read veloFlux://streams/schema true
	// {"name":"user","schema":{"columns":[{"name":"a","data_type":"int64"},{"name":"b","data_type":"int64"},{"name":"c","data_type":"string"},{"name":"ts","data_type":"int64"}]}}
	// trace: tool_call pipelines.verify false
	// planner_error 1 1
	// trace: tool_call pipelines.verify true
	// true LIMIT
}
