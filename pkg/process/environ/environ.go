// Package environ says which variables of a process pass to what it starts for somebody else: to an MCP server, to the run of a shared
// workflow, and to a node that comes from another machine. The nodes of a run on its own machine have all variables, as the commands of a
// shell do. docs/environment.md is the same table.
package environ

import (
	"slices"
	"strings"
)

// list is a set of variables. A name that ends in * stands for all that begin so.
type list []string

func (l list) has(name string) bool {
	return slices.ContainsFunc(l, func(entry string) bool {
		if prefix, ok := strings.CutSuffix(entry, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == entry
	})
}

// The table.
var (
	// passed are the variables that servers and shared runs have: the user and the session, where certificates and proxies are, and what the
	// programs of the suite tell each other.
	passed = list{
		"HOME", "PATH", "USER", "LOGNAME", "LANG", "LC_*", "TERM", "SHELL", "TMPDIR", "TZ", "XDG_*",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"PFLOW_*", "VELOFLUX_*", "TRACEPARENT", "TRACESTATE", "BAGGAGE",
	}
	// credential is the one of the suite's own that is a secret for a program of the suite alone.
	credential = "VELOFLUX_HEADER"
	// machine are the variables that keep their values on the machine that a node comes to. All others are those of the node.
	machine = list{
		"PATH", "HOME", "PFLOW_HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "TMPDIR", "HOSTNAME", "SSH_*", "XDG_*", "SLURM_*", "KUBERNETES_*", "CUDA_*",
	}
)

// Passed divides an environment, NAME=VALUE each, into what MCP servers and shared runs have, and the names of what is withheld from
// them, sorted.
func Passed(env []string) (kept, withheld []string) {
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); passed.has(name) && name != credential {
			kept = append(kept, kv)
		} else {
			withheld = append(withheld, name)
		}
	}
	slices.Sort(withheld)
	return kept, slices.Compact(withheld)
}

// OfMachine returns the variables of an environment that describe the machine or the session that a program runs in.
func OfMachine(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !machine.has(name)
	})
}
