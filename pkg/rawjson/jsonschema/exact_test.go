package jsonschema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// TestDecimals checks that numbers are compared as they are written, wherever they stand.
func TestDecimals(t *testing.T) {
	t.Parallel()
	cents := `{"multipleOf":0.01}`
	for _, tc := range []struct {
		schema, value string
		fits          bool
	}{
		{cents, `19.99`, true},
		{cents, `0.07`, true},
		{cents, `0.29`, true},
		{cents, `-0.29`, true},
		{cents, `1e300`, true},
		{cents, `19.995`, false},
		{cents, `0.290000000000000000001`, false},
		{cents, `"x"`, true},
		{`{"anyOf":[{"type":"null"},` + cents + `]}`, `19.99`, true},
		{`{"oneOf":[` + cents + `,{"multipleOf":0.1}]}`, `19.99`, true},
		{`{"oneOf":[` + cents + `,{"multipleOf":0.1}]}`, `19.9`, false},
		{`{"not":` + cents + `}`, `19.99`, false},
		{`{"if":` + cents + `,"then":{"maximum":20},"else":false}`, `19.99`, true},
		{`{"contains":` + cents + `,"maxContains":1}`, `[19.99,0.001]`, true},
		{`{"properties":{"a":{"$ref":"#/$defs/c"}},"$defs":{"c":` + cents + `}}`, `{"a":19.99}`, true},
		{`{"properties":{"a":{"$ref":"#/$defs/c"}},"$defs":{"c":` + cents + `}}`, `{"a":19.999}`, false},
		{`{"multipleOf":0.01,"minimum":0.07,"maximum":19.99}`, `19.99`, true},
		{`{"multipleOf":0.01,"minimum":0.07,"maximum":19.99}`, `0.07`, true},
		{`{"multipleOf":0.01,"exclusiveMaximum":19.99}`, `19.99`, false},
		{`{"type":"integer","multipleOf":0.5}`, `1e308`, true},
		{`{"type":"integer","multipleOf":0.5}`, `19.5`, false},
		{`{"type":"integer"}`, `9007199254740993.5`, false},
		{`{"const":9007199254740993}`, `9007199254740993`, true},
		{`{"const":9007199254740993}`, `9007199254740992`, false},
		{`{"enum":[{"id":9007199254740993}]}`, `{"id":9007199254740992}`, false},
		{`{"uniqueItems":true}`, `[9007199254740993,9007199254740992]`, true},
		{`{"uniqueItems":true}`, `[9007199254740993,9007199254740993.0]`, false},
		{`{"maximum":9223372036854775807}`, `9223372036854775808`, false},
		{`{"maximum":9223372036854775807}`, `9223372036854775807`, true},
		{`{"multipleOf":3}`, `9007199254740993`, true},
		{`{"multipleOf":3}`, `9007199254740994`, false},
		{`{"exclusiveMinimum":0}`, `1e-400`, true},
		{`{"minimum":0}`, `-1e-99999999999`, false},
		{`{"maximum":1.5}`, `1e99999999999`, false},
		{`{"multipleOf":7}`, `0e99999999999`, true},
	} {
		s, f := Compile(json.RawMessage(tc.schema))
		if f != nil {
			t.Errorf("%s: %v", tc.schema, f)
			continue
		}
		if v := s.Check(json.RawMessage(tc.value)); (v == nil) != tc.fits || s.Fits(json.RawMessage(tc.value)) != tc.fits {
			t.Errorf("%s: %s: got %v, want fits %v", tc.schema, tc.value, v, tc.fits)
		}
	}
	for schema, want := range map[string]string{
		`{"items":` + cents + `}`:                      "[0] must be a multiple of 0.01",
		`{"items":{"maximum":0.30000000000000000001}}`: "[0] must be at most 0.30000000000000000001",
		`{"items":{"type":"integer","multipleOf":5}}`:  "[0] must be an integer, not a number",
		`{"items":{"multipleOf":0.0}}`:                 "/items/multipleOf: it must be more than 0",
	} {
		s, f := Compile(json.RawMessage(schema))
		if f != nil {
			if f.Message != want {
				t.Errorf("%s: got %q, want %q", schema, f.Message, want)
			}
		} else if v := s.Check(json.RawMessage(`[3.141]`)); v == nil || v.Error() != want {
			t.Errorf("%s: got %v, want %q", schema, v, want)
		}
	}
}

// TestNumbersAreExact compares the checks of random numbers with what package big computes.
func TestNumbersAreExact(t *testing.T) {
	t.Parallel()
	number := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"0", "19.99", "9007199254740993", "-9007199254740992", "0.3", "1e300", "-1.50", "3e-7"}).Draw(t, "base") +
			rapid.SampledFrom([]string{"", "", "1", "e2", "E-3"}).Draw(t, "more")
	}).Filter(func(n string) bool {
		f, err := strconv.ParseFloat(n, 64)
		return json.Valid([]byte(n)) && err == nil && (f != 0 || n[0] == '0')
	})
	exact := func(n string) *big.Rat { r, _ := new(big.Rat).SetString(n); return r }
	rules := map[string]func(n, limit *big.Rat) bool{
		"multipleOf":       func(n, limit *big.Rat) bool { return new(big.Rat).Quo(n, limit).IsInt() },
		"minimum":          func(n, limit *big.Rat) bool { return n.Cmp(limit) >= 0 },
		"maximum":          func(n, limit *big.Rat) bool { return n.Cmp(limit) <= 0 },
		"exclusiveMinimum": func(n, limit *big.Rat) bool { return n.Cmp(limit) > 0 },
		"exclusiveMaximum": func(n, limit *big.Rat) bool { return n.Cmp(limit) < 0 },
		"const":            func(n, limit *big.Rat) bool { return n.Cmp(limit) == 0 },
	}
	keywords := slices.Sorted(maps.Keys(rules))
	rapid.Check(t, func(t *rapid.T) {
		var properties, members []string
		fits := map[string]bool{}
		all := true
		values := rapid.SliceOfN(number, 1, 4).Draw(t, "values")
		for i := range rapid.IntRange(1, 5).Draw(t, "schemas") {
			keyword := rapid.SampledFrom(keywords).Draw(t, "keyword")
			limit := number.Draw(t, "limit")
			if keyword == "multipleOf" && exact(limit).Sign() <= 0 {
				limit = "0.01"
			}
			for j, value := range values {
				name := fmt.Sprintf("n%d-%d", i, j)
				properties = append(properties, fmt.Sprintf(`"%s":{"%s":%s}`, name, keyword, limit))
				members = append(members, fmt.Sprintf(`"%s":%s`, name, value))
				fits[name] = rules[keyword](exact(value), exact(limit))
				all = all && fits[name]
			}
		}
		source, document := `{"properties":{`+strings.Join(properties, ",")+`}}`, "{"+strings.Join(members, ",")+"}"
		s, f := Compile(json.RawMessage(source))
		if f != nil {
			t.Fatalf("%s: %v", source, f)
		}
		if got := s.Fits(json.RawMessage(document)); got != all {
			t.Errorf("%s: %s: got %v, want %v", source, document, got, all)
		}
		for name, want := range fits {
			value := gjson.Get(document, name).Raw
			if v := s.CheckMember(name, json.RawMessage(value)); (v == nil) != want {
				t.Errorf("%s: %s of %s: got %v, want fits %v", source, name, document, v, want)
			}
		}
	})
}
