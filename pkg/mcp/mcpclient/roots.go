package mcpclient

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// clientOptions returns what the client offers to a server: its roots.
func clientOptions(spec Spec) *mcp.ClientOptions {
	offered := &mcp.ClientCapabilities{}
	if spec.Dir != "" {
		offered.RootsV2 = &mcp.RootCapabilities{} //nolint:staticcheck // servers of today use them
	}
	return &mcp.ClientOptions{Capabilities: offered}
}

// addRoots adds the folders that a server may work in: the working directory, and the folders that its arguments name. Servers
// for files use the roots in place of their arguments.
func addRoots(client *mcp.Client, spec Spec) {
	if spec.Dir == "" {
		return
	}
	folders := []string{spec.Dir}
	for _, arg := range spec.Server.Args {
		info, err := os.Stat(arg)
		if filepath.IsAbs(arg) && err == nil && info.IsDir() && !slices.Contains(folders, arg) {
			folders = append(folders, arg)
		}
	}
	for _, folder := range folders {
		at := url.URL{Scheme: "file", Path: filepath.ToSlash(folder)}
		client.AddRoots(&mcp.Root{URI: at.String(), Name: filepath.Base(folder)}) //nolint:staticcheck // as above
	}
}
