package registry

import (
	"github.com/pflow-suite/pflow/pkg/catalog/search"
	"github.com/pflow-suite/pflow/pkg/nodetype"
)

// document returns the texts by which a search finds a type.
func document(t nodetype.Type) search.Document {
	return search.Document{Name: t.Name, Description: t.Description, Params: t.ParamNames()}
}
