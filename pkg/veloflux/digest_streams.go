package veloflux

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

// sampleColumns is the most columns of a stream that its summary names.
const sampleColumns = 8

// streamSummary is the part of a stream that the snapshot keeps.
type streamSummary struct {
	Name       json.RawMessage   `json:"name"`
	Cols       int               `json:"cols"`
	SampleCols []json.RawMessage `json:"sample_cols"`
}

// streamsSnapshot makes {"fetched_at","streams":[{"name","cols","sample_cols"}]} from the body of GET /streams, in the
// same order. The time is in UTC with milliseconds; sample_cols are the names of the first 8 columns. The result is
// deterministic. The error completes a sentence that names the body.
func streamsSnapshot(body []byte, fetched time.Time) (json.RawMessage, error) {
	streams, err := parseList(body, "stream")
	if err != nil {
		return nil, err
	}
	snapshot := struct {
		FetchedAt string          `json:"fetched_at"`
		Streams   []streamSummary `json:"streams"`
	}{fetched.UTC().Format("2006-01-02T15:04:05.000Z"), make([]streamSummary, 0, len(streams))}
	for _, s := range streams {
		snapshot.Streams = append(snapshot.Streams, summarize(s))
	}
	return rawjson.Marshal(snapshot)
}

func summarize(stream gjson.Result) streamSummary {
	summary := streamSummary{Name: rawText(stream.Get("name")), SampleCols: []json.RawMessage{}}
	columns := stream.Get("schema.columns")
	if !columns.IsArray() {
		return summary
	}
	columns.ForEach(func(_, column gjson.Result) bool {
		if summary.Cols < sampleColumns {
			summary.SampleCols = append(summary.SampleCols, rawText(column.Get("name")))
		}
		summary.Cols++
		return true
	})
	return summary
}

// streamSchema makes {"name","schema"} from a stream's name and the body of GET /streams/describe/:name. The schema
// keeps the Manager's bytes. The error completes a sentence that names the body.
func streamSchema(name string, describe []byte) (json.RawMessage, error) {
	document, err := parseBody(describe)
	if err != nil {
		return nil, err
	}
	if !document.IsObject() {
		return nil, fmt.Errorf("it is %s, not a stream's description", kindOf(document))
	}
	schema := document.Get("spec.schema")
	if !schema.IsObject() || !schema.Get("columns").IsArray() {
		return nil, errors.New("it has no spec.schema with a list of columns")
	}
	out := append([]byte(`{"name":`), rawjson.Quote(strings.ToValidUTF8(name, "\uFFFD"))...)
	out = append(out, `,"schema":`...)
	return append(append(out, schema.Raw...), '}'), nil
}
