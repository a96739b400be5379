package mcpclient

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// roots returns the folders that a server may work in: the working directory, and the folders that its arguments name. Servers
// for files use the roots in place of their arguments.
func roots(spec Spec) (offered []*mcp.Root) { //nolint:staticcheck // servers of today use them
	if spec.Dir == "" {
		return nil
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
		offered = append(offered, &mcp.Root{URI: at.String(), Name: filepath.Base(folder)}) //nolint:staticcheck // as above
	}
	return offered
}
