package upstream

import (
	"context"
	"encoding/json"
	"path"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/home"
	"github.com/pflow-suite/pflow/pkg/home/settings"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// settings takes over the values of env, the patterns for node types, and the defaults that have a meaning here.
func (i *Importer) settings(ctx context.Context, from *home.Home, shared bool) ([]Item, error) {
	source, err := from.Read(settings.File)
	if err != nil || source == nil {
		return nil, err
	}
	if !gjson.ValidBytes(source) || !gjson.ParseBytes(source).IsObject() {
		return []Item{{Kind: "setting", Name: settings.File, Status: Refused, Error: fault.New(fault.Validation, "%s is not a JSON object", from.Path(settings.File))}}, nil
	}
	old := gjson.ParseBytes(source)
	if shared {
		return []Item{{Kind: "setting", Name: settings.File, Status: Unchanged, Differs: append(differences(old), "The home is shared, so the file is used as it is")}}, nil
	}
	var items []Item
	edit := func(d *settings.Document) error {
		items = nil
		var err error
		put := func(value gjson.Result, at ...string) {
			item := Item{Kind: "setting", Name: path.Join(at...)}
			there := d.Get(at...)
			switch {
			case there != nil && gjson.ParseBytes(there).String() == value.String():
				item.Status = Unchanged
			case there != nil && !i.Force:
				item.Status = Kept
				item.Error = fault.New(fault.AlreadyExists, "%s has another value for %s", settings.File, item.Name).Suggest("To replace it, add --force")
			default:
				item.Status = Taken
				if err == nil {
					err = d.Set(json.RawMessage(value.Raw), at...)
				}
			}
			items = append(items, item)
		}
		old.Get("env").ForEach(func(name, value gjson.Result) bool {
			if value.Type != gjson.String {
				items = append(items, Item{Kind: "setting", Name: "env/" + name.Str, Status: Refused, Error: fault.New(fault.Validation, "The value of env.%s is not text", name.Str)})
				return true
			}
			put(value, "env", name.Str)
			return true
		})
		for _, list := range []string{"allow", "deny"} {
			if item, patterns := i.patterns(d, old, list); item != nil {
				items = append(items, *item)
				if item.Status == Taken && err == nil {
					err = d.Set(patterns, "registry", "nodes", list)
				}
			}
		}
		for _, key := range [][]string{{"runtime", "template_resolution_mode"}, {"llm", "default_model"}} {
			if value := old.Get(key[0] + "." + key[1]); value.Type == gjson.String && value.Str != "" && value.Str != "strict" {
				put(value, key...)
			}
		}
		if more := differences(old); len(more) > 0 {
			summary := Item{Kind: "setting", Name: settings.File, Status: Unchanged, Differs: more}
			if slices.ContainsFunc(items, func(item Item) bool { return item.Status == Taken }) {
				summary.Status = Taken
			}
			items = append(items, summary)
		}
		return err
	}
	if i.Dry {
		d, err := settings.Read(i.Home)
		if err == nil {
			err = edit(d)
		}
		return items, err
	}
	_, err = settings.Change(ctx, i.Home, edit)
	return items, err
}

// patterns returns the item of a list of patterns, and the list with those that are already here. A list that allows everything is
// nothing to take over.
func (i *Importer) patterns(d *settings.Document, old gjson.Result, list string) (*Item, json.RawMessage) {
	all := d.Texts("registry", "nodes", list)
	item := &Item{Kind: "setting", Name: "registry/nodes/" + list, Status: Unchanged}
	found := false
	for _, p := range old.Get("registry.nodes." + list).Array() {
		if found = found || p.Str != "*"; !slices.Contains(all, p.Str) {
			all = append(all, p.Str)
			item.Status = Taken
		}
	}
	if !found {
		return nil, nil
	}
	text, _ := rawjson.Marshal(all) // a list of texts
	return item, text
}

// differences names what has another meaning here.
func differences(old gjson.Result) (notes []string) {
	if len(old.Get("env").Map()) > 0 {
		notes = append(notes, "Values of env are secrets here: they are redacted in events and outputs. pflow-lib settings set-var is for values that are not")
	}
	for _, list := range []string{"allow", "deny"} {
		for _, p := range old.Get("registry.nodes." + list).Array() {
			if len(p.Str) > 6 && p.Str[:6] == "pflow." {
				notes = append(notes, "The pattern "+p.Str+" is for a Python module and matches no node type here")
			}
		}
	}
	for _, key := range []string{"registry.output_mode", "registry.include_test_nodes", "llm.discovery_model", "llm.filtering_model", "llm.tts_model", "llm.tts_voice"} {
		if v := old.Get(key); v.Exists() && v.Type != gjson.Null {
			notes = append(notes, key+" has no effect here")
		}
	}
	return notes
}
