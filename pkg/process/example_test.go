package process_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/pflow-suite/pflow/pkg/process"
)

func ExampleRun() {
	var out strings.Builder
	exit, err := process.Run(context.Background(), process.Command{
		Path:   "sh",
		Args:   []string{"-c", "cat; exit 3"},
		Env:    []string{"PATH=/usr/bin:/bin"},
		Stdin:  strings.NewReader("hello\n"),
		Stdout: &out,
	})
	fmt.Print(out.String())
	fmt.Println(exit.Code, err)
	// Output:
	// hello
	// 3 <nil>
}
