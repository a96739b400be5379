package veloflux

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// maxSemantics is the most characters of a construct's semantics that a digest keeps.
	maxSemantics = 240
	// maxSyntaxDepth bounds the recursion. The Manager's tree has five levels.
	maxSyntaxDepth = 100
)

// syntaxNode is the part of a construct that its digest keeps. All fields except the semantics are the Manager's bytes
// without white space.
type syntaxNode struct {
	ID          json.RawMessage `json:"id"`
	Type        json.RawMessage `json:"type"`
	Title       json.RawMessage `json:"title"`
	Status      json.RawMessage `json:"status,omitempty"`
	Semantics   json.RawMessage `json:"semantics,omitempty"`
	Placement   json.RawMessage `json:"placement,omitempty"`
	Constraints json.RawMessage `json:"constraints,omitempty"`
	Syntax      json.RawMessage `json:"syntax,omitempty"`
	Children    []syntaxNode    `json:"children,omitempty"`
}

// syntaxDigest makes {"dialect","ir","constructs":[…]} from the body of GET /capabilities/syntax: the tree of query
// constructs without purposes, workarounds, examples and plan nodes. Semantics are cut after 240 characters, followed by
// "...". The result is deterministic. The error completes a sentence that names the body.
func syntaxDigest(body []byte) (json.RawMessage, error) {
	document, err := parseBody(body)
	if err != nil {
		return nil, err
	}
	if !document.IsObject() {
		return nil, fmt.Errorf("it is %s, not an object with constructs", kindOf(document))
	}
	constructs := document.Get("constructs")
	if !constructs.IsArray() {
		return nil, fmt.Errorf("its constructs are %s, not a list", kindOf(constructs))
	}
	nodes, err := syntaxNodes(constructs, 1)
	if err != nil {
		return nil, err
	}
	return rawjson.Marshal(struct {
		Dialect    json.RawMessage `json:"dialect"`
		IR         json.RawMessage `json:"ir"`
		Constructs []syntaxNode    `json:"constructs"`
	}{rawText(document.Get("dialect")), rawText(document.Get("ir")), nodes})
}

// syntaxNodes returns the digests of the constructs in a list that are part of a query or have such a descendant.
func syntaxNodes(list gjson.Result, depth int) ([]syntaxNode, error) {
	if depth > maxSyntaxDepth {
		return nil, fmt.Errorf("its constructs are nested more than %d deep", maxSyntaxDepth)
	}
	kept := []syntaxNode{}
	if !list.IsArray() {
		return kept, nil
	}
	for _, n := range list.Array() {
		if !n.IsObject() {
			return nil, fmt.Errorf("one of its constructs is %s, not an object", kindOf(n))
		}
		children, err := syntaxNodes(n.Get("children"), depth+1)
		if err != nil {
			return nil, err
		}
		if len(children) > 0 || inQuery(n.Get("id")) {
			kept = append(kept, newSyntaxNode(n, children))
		}
	}
	return kept, nil
}

func newSyntaxNode(n gjson.Result, children []syntaxNode) syntaxNode {
	kind := n.Get("type")
	if kind.Type != gjson.String {
		kind = n.Get("kind")
	}
	return syntaxNode{
		ID:          rawText(n.Get("id")),
		Type:        rawText(kind),
		Title:       rawText(n.Get("title")),
		Status:      unlessEmpty(n.Get("status")),
		Semantics:   shortSemantics(n.Get("semantics")),
		Placement:   unlessEmpty(n.Get("placement")),
		Constraints: unlessEmpty(n.Get("constraints")),
		Syntax:      unlessEmpty(n.Get("syntax")),
		Children:    children,
	}
}

// inQuery reports whether an id names a part of a query, such as select or select.where.
func inQuery(id gjson.Result) bool {
	if id.Type != gjson.String {
		return false
	}
	root, _, _ := strings.Cut(id.Str, ".")
	switch root {
	case "statement", "select", "from", "expr", "window":
		return true
	}
	return false
}

// unlessEmpty returns the compact bytes of a value, or nil if it is missing, null, "", [] or {}.
func unlessEmpty(value gjson.Result) json.RawMessage {
	raw := rawjson.Compact(json.RawMessage(value.Raw))
	switch string(raw) {
	case "", "null", `""`, "[]", "{}":
		return nil
	}
	return raw
}

// shortSemantics returns a JSON string trimmed of white space and cut after maxSemantics characters, or nil if it is
// empty or not a string.
func shortSemantics(value gjson.Result) json.RawMessage {
	if value.Type != gjson.String {
		return nil
	}
	text := strings.TrimSpace(value.Str)
	if text == "" {
		return nil
	}
	if runes := []rune(text); len(runes) > maxSemantics {
		text = strings.TrimRightFunc(string(runes[:maxSemantics]), unicode.IsSpace) + "..."
	}
	return rawjson.Quote(text)
}
