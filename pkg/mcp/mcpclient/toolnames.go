package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// ToolNames returns the names of the node types of a server's tools, by the names of the tools. They depend only on these and on
// the configured servers, so the order of syncs does not matter, and no two tools of configured servers share one. The name is
// mcp-SERVER-TOOL in the spelling of node types. It ends in a digest of the tool's name if
//   - several tools of the server have the same spelling, except for the one that is called exactly so
//   - nothing of the tool's name is left, or the name is too long
//   - it could be the name of a tool of another server, whose name begins with this one's and a hyphen
//   - it could be such a name with a digest, of a server with whose name and a hyphen this one's begins.
//
// ReadResource is called read-resource, with a digest if one of the server's tools is called so.
func ToolNames(server string, tools, configured []string) map[string]string {
	n := namer{clean: home.CleanName(server), used: map[string]bool{}}
	n.look(server, configured)
	spelled := map[string][]string{} // the tools by their plain names
	tools = slices.Compact(slices.Sorted(slices.Values(tools)))
	reads := slices.Contains(tools, ReadResource)
	tools = slices.DeleteFunc(tools, func(tool string) bool { return tool == ReadResource })
	for _, tool := range tools {
		name := n.plain(tool)
		spelled[name] = append(spelled[name], tool)
	}
	names := make(map[string]string, len(tools))
	for name, same := range spelled {
		winner := same[0]
		if exact := strings.TrimPrefix(name, "mcp-"+n.clean+"-"); len(same) > 1 {
			winner = exact
		}
		if slices.Contains(same, winner) && !n.marked(name) {
			names[winner], n.used[name] = name, true
		}
	}
	for _, tool := range tools {
		if names[tool] == "" {
			names[tool] = n.digested(n.plain(tool), tool)
		}
	}
	if reads {
		names[ReadResource] = n.reader()
	}
	return names
}

// namer makes the names of the tools of one server.
type namer struct {
	clean string
	// inner are the servers whose tools have names that begin as those of this one. within reports whether this one is such a
	// server of another, and shared whether another one has the same spelling, and is spelled so.
	inner          []string
	within, shared bool
	// salt makes the digests of servers with the same spelling differ.
	salt string
	used map[string]bool
}

func (n *namer) look(server string, configured []string) {
	for _, other := range configured {
		clean := home.CleanName(other)
		switch {
		case other == server:
		case clean == n.clean:
			if server != n.clean {
				n.shared, n.salt = true, server+"\x00"
			}
		case strings.HasPrefix(clean, n.clean+"-"):
			n.inner = append(n.inner, clean)
		case strings.HasPrefix(n.clean, clean+"-"):
			n.within = true
		}
	}
}

// plain returns the name without a digest.
func (n *namer) plain(tool string) string {
	return strings.TrimSuffix(nodetype.MCPName(n.clean, tool), "-")
}

// marked reports whether a plain name needs a digest, whatever other tools the server has.
func (n *namer) marked(name string) bool {
	inInner := func(server string) bool { return strings.HasPrefix(name, "mcp-"+server+"-") }
	return n.shared || name == "mcp-"+n.clean || len(name) > home.MaxType || slices.ContainsFunc(n.inner, inInner) || n.within && endsInDigest(name)
}

// leastDigits is the least number of hexadecimal digits of a digest.
const leastDigits = 8

// endsInDigest reports whether a name could be one with a digest.
func endsInDigest(name string) bool {
	last := name[strings.LastIndexByte(name, '-')+1:]
	return len(last) >= leastDigits && strings.Trim(last, "0123456789abcdef") == ""
}

// reader returns the name of ReadResource. It is the last to get one, so that it takes no name from a tool of the server.
func (n *namer) reader() string {
	name := n.plain("read-resource")
	if n.used[name] || n.marked(name) {
		return n.digested(name, ReadResource)
	}
	return name
}

// digested returns a tool's plain name with as many digits of the digest as make it one that no other tool of the server has.
func (n *namer) digested(name, tool string) string {
	sum := sha256.Sum256([]byte(n.salt + tool))
	digest := hex.EncodeToString(sum[:])
	for digits := leastDigits; ; digits += leastDigits {
		full := strings.TrimSuffix(name[:min(len(name), home.MaxType-1-digits)], "-") + "-" + digest[:digits]
		if !n.used[full] || digits == len(digest) {
			n.used[full] = true
			return full
		}
	}
}

// NodeTypes returns the node types of a server's tools, with the names that ToolNames returns. Of several tools of the same
// name it returns the first.
func NodeTypes(server string, tools []Tool, configured []string) []nodetype.Type {
	named := make([]string, len(tools))
	for i, t := range tools {
		named[i] = t.Name
	}
	names := ToolNames(server, named, configured)
	types := make([]nodetype.Type, 0, len(tools))
	for _, t := range tools {
		if name := names[t.Name]; name != "" {
			typ := NodeType(server, t)
			typ.Name = name
			types = append(types, typ)
			delete(names, t.Name)
		}
	}
	return types
}
