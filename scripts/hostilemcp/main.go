// Hostilemcp is the MCP server of internal/hostilemcp, which misbehaves, for tests of the suite's programs.
//
//	hostilemcp KIND STAGE FOLDER
//	hostilemcp http
//
// The second form prints its URL and serves until its standard input ends.
package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"os"

	"github.com/pflow-suite/pflow/internal/hostilemcp"
)

func main() {
	switch len(os.Args) {
	case 2:
		server := httptest.NewServer(hostilemcp.Handler())
		fmt.Println(server.URL)
		_, _ = io.Copy(io.Discard, os.Stdin)
	case 4:
		s := hostilemcp.Server{Kind: os.Args[1], Stage: os.Args[2], Folder: os.Args[3]}
		if err := s.Serve(os.Stdin, os.Stdout, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, "hostilemcp:", err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: hostilemcp KIND STAGE FOLDER, or hostilemcp http")
		os.Exit(2)
	}
}
