package nodeprogram_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pflow-suite/pflow/pkg/nodes/nodeprogram"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

func ExampleServe() {
	request := strings.NewReader(`{"v":1,"params":{"message":"hello"}}`)
	err := nodeprogram.Serve(context.Background(), "echo", nodeprogram.MaxRequest, request, os.Stdout, func(_ context.Context, in nodetype.Echo) (*nodetype.EchoOutputs, error) {
		return &nodetype.EchoOutputs{Echo: strings.Repeat(in.Message, in.Count)}, nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: {"echo":"hello","data":null,"metadata":{"original_message":"","count":0,"modified":false}}
}
