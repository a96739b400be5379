package cli

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// Addressable is a part of a document whose texts depend on its reader, such as a *fault.Fault. Address changes it in place.
type Addressable interface{ Address(fault.Reader) }

// addressed returns a value as JSON for the reader of the app: with the texts for that reader, and faults of at most MaxBytes.
func (a *App) addressed(v any) (json.RawMessage, error) {
	raw, err := rawjson.Marshal(v)
	if err != nil || !a.Reader.HasTools() && a.MaxBytes == 0 && !worded(raw) {
		return raw, err // most documents need not be walked
	}
	var faults []*fault.Fault
	rename := a.withoutPaths()
	visit(reflect.ValueOf(v), func(part any) bool {
		if one, ok := part.(Addressable); ok {
			one.Address(a.Reader)
		}
		if one, ok := part.(texted); ok && rename != nil {
			one.MapTexts(rename)
		}
		f, ok := part.(*fault.Fault)
		if ok {
			faults = append(faults, f)
		}
		return !ok // a fault addresses those in it
	})
	if raw, err = rawjson.Marshal(v); err != nil || a.MaxBytes == 0 || len(faults) == 0 {
		return raw, err
	}
	return a.limit(v, len(raw), faults)
}

// worded reports whether a document may have steps.
func worded(raw json.RawMessage) bool { return bytes.Contains(raw, []byte(`"next":`)) }

const (
	// minBytes is the least --max-bytes except 0.
	minBytes = 1024
	// maxErrors is the most faults that a fault of a limited document sums up.
	maxErrors = 10
	// minFault is the number of bytes that each fault of a document may have, whatever the limit is.
	minFault = 1000
)

// limit returns a value of the given size as JSON whose faults are shortened, so that it has at most MaxBytes if what is not in the
// faults allows that.
func (a *App) limit(v any, size int, faults []*fault.Fault) (json.RawMessage, error) {
	for _, f := range faults {
		size -= sizeOf(f)
		*f = *f.LimitErrors(maxErrors)
		size += sizeOf(f)
	}
	for i, f := range faults {
		if size <= a.MaxBytes {
			break
		}
		own := sizeOf(f)
		*f = *f.LimitBytes(max(minFault, own-(size-a.MaxBytes)/(len(faults)-i)))
		size -= own - sizeOf(f)
	}
	return rawjson.Marshal(v)
}

func sizeOf(f *fault.Fault) int {
	raw, _ := rawjson.Marshal(f) // it has been written as JSON before
	return len(raw)
}

// visit calls see with a pointer to every struct that encoding/json finds in a value behind a pointer or in a list. It looks inside
// the struct if see returns true.
func visit(v reflect.Value, see func(part any) bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			visit(v.Elem(), see)
		}
	case reflect.Struct:
		if v.CanAddr() && v.Addr().CanInterface() && !see(v.Addr().Interface()) {
			return
		}
		for field, value := range v.Fields() {
			if field.IsExported() || field.Anonymous {
				visit(value, see)
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 { // bytes, such as a json.RawMessage
			return
		}
		for i := range v.Len() {
			visit(v.Index(i), see)
		}
	case reflect.Map:
		for _, value := range v.Seq2() {
			visit(value, see)
		}
	}
}
