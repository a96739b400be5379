package jsonschema

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"
	"strings"

	google "github.com/google/jsonschema-go/jsonschema"

	"github.com/pflow-suite/pflow/pkg/rawjson"
)

const (
	// maxDigits is the most bytes of a number that is compared digit by digit. A longer one is taken for the nearest float64.
	maxDigits = 1000
	// maxStandIn is the greatest stand-in, in halves: so great that the library's division by another one shows whether a rest remains.
	maxStandIn = 1 << 50
)

// comparing are the keywords with numbers that those of a value are compared with, beside multipleOf.
var comparing = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "enum", "const"}

// exact returns the schema, and a value from [Decode], for the library, which computes with float64s: by them 19.99 is no multiple of
// 0.01, and 2^53+1 equals 2^53. Where they could decide wrongly, the numbers of both are replaced by stand-ins: float64s in the same
// order, which are integers if the numbers are, and multiples of the stand-in of a multipleOf if the numbers are multiples of it. So
// every check of the stand-ins ends as that of the numbers.
func (s *Schema) exact(value any) (*Schema, any) {
	if !s.compares || !needsExact(value, s) {
		return s, withNumbers(value, nearest)
	}
	numbers := newStandIns(s, value)
	if numbers == nil {
		return s, withNumbers(value, nearest)
	}
	replaced := *s
	replaced.document = numbers.document(s)
	var err error
	if replaced.resolved, err = replaced.document.Resolve(nil); err != nil {
		return s, withNumbers(value, nearest)
	}
	return &replaced, withNumbers(value, numbers.of)
}

// noteNumbers records whether a schema compares numbers, and whether float64s do for those that it names.
func (s *Schema) noteNumbers() {
	s.ordinary = true
	for _, part := range s.parts {
		s.compares = s.compares || part["uniqueItems"] == true || slices.Contains(typesOf(part), "integer")
		for _, keyword := range comparing {
			limit, ok := part[keyword]
			s.compares = s.compares || ok
			eachNumber(limit, func(n json.Number) { s.ordinary = s.ordinary && ordinary(n) })
		}
		if m, ok := part["multipleOf"].(json.Number); ok {
			s.compares, s.divides = true, true
			s.ordinary = s.ordinary && whole(m)
		}
	}
}

// needsExact reports whether a value has numbers that float64s could compare wrongly with those of a schema.
func needsExact(value any, s *Schema) (needs bool) {
	eachNumber(value, func(n json.Number) {
		needs = needs || !s.ordinary || !ordinary(n) || s.divides && !whole(n)
	})
	return needs
}

// ordinary reports whether a number has so few digits, and so small an exponent, that no two such numbers share a float64.
func ordinary(n json.Number) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(n)), "e")
	return len(strings.TrimLeft(mantissa, "-0.")) <= 15 && len(exponent) <= 2
}

// whole reports whether an ordinary number is written as an integer.
func whole(n json.Number) bool { return ordinary(n) && !strings.ContainsAny(string(n), ".eE") }

// standIns are the numbers that stand for those of a schema and a value.
type standIns struct {
	of      func(json.Number) float64
	divisor map[string]float64 // by the exact value of a multipleOf
}

// newStandIns returns nil if there are so many values of multipleOf that the stand-ins become too great: more than a dozen.
func newStandIns(s *Schema, value any) *standIns {
	exact := map[json.Number]*big.Rat{}
	note := func(n json.Number) {
		if exact[n] == nil {
			exact[n] = rational(n)
		}
	}
	eachNumber(value, note)
	// Each multipleOf has a prime number, and a stand-in is divisible by those of which its number is a multiple. The first is 1, since
	// an integer is a multiple of 1, and its prime is 2, so the stand-ins are halves.
	divisors, primes := []*big.Rat{big.NewRat(1, 1)}, []int64{2}
	all := &standIns{divisor: map[string]float64{"1": 1}}
	for _, path := range s.paths() {
		for _, keyword := range comparing {
			eachNumber(s.parts[path][keyword], note)
		}
		if n, ok := s.parts[path]["multipleOf"].(json.Number); ok {
			if m := rational(n); all.divisor[m.RatString()] == 0 {
				divisors, primes = append(divisors, m), append(primes, nextPrime(primes))
				all.divisor[m.RatString()] = float64(primes[len(primes)-1]) / 2
			}
		}
	}
	ordered := make([]json.Number, 0, len(exact))
	for n := range exact {
		ordered = append(ordered, n)
	}
	slices.SortFunc(ordered, func(a, b json.Number) int { return exact[a].Cmp(exact[b]) })
	halves := make(map[json.Number]int64, len(ordered))
	assign := func(numbers []json.Number) bool { // from those next to 0
		last, lastRat := int64(0), new(big.Rat)
		for _, n := range numbers {
			if r := exact[n]; r.Cmp(lastRat) != 0 {
				if last, lastRat = nextStandIn(last, r, divisors, primes), r; last > maxStandIn {
					return false
				}
			}
			halves[n] = last
		}
		return true
	}
	below, _ := slices.BinarySearchFunc(ordered, 0, func(n json.Number, _ int) int {
		if exact[n].Sign() < 0 {
			return -1
		}
		return 1
	})
	negative := slices.Clone(ordered[:below])
	slices.Reverse(negative)
	if !assign(negative) || !assign(ordered[below:]) {
		return nil
	}
	for _, n := range negative {
		halves[n] = -halves[n]
	}
	all.of = func(n json.Number) float64 { return float64(halves[n]) / 2 }
	return all
}

// nextStandIn returns the next number of halves after another that is divisible by the primes of those divisors of which r is a multiple.
func nextStandIn(after int64, r *big.Rat, divisors []*big.Rat, primes []int64) int64 {
	step := int64(1)
	var others []int64
	for i, d := range divisors {
		if !new(big.Rat).Quo(r, d).IsInt() {
			others = append(others, primes[i])
		} else if step *= primes[i]; step > maxStandIn {
			return step
		}
	}
	k := (after/step + 1) * step
	for slices.ContainsFunc(others, func(p int64) bool { return k%p == 0 }) {
		k += step
	}
	return k
}

// nextPrime returns the next prime number after the first ones.
func nextPrime(primes []int64) int64 {
	for n := primes[len(primes)-1] + 1; ; n++ {
		if !slices.ContainsFunc(primes, func(p int64) bool { return n%p == 0 }) {
			return n
		}
	}
}

// document returns a copy of a schema with the stand-ins.
func (all *standIns) document(s *Schema) *google.Schema {
	raw, _ := rawjson.Marshal(s.parts[""])
	root, _ := decodeNumbers(raw)
	tree, _ := root.(map[string]any)
	Walk(tree, func(_ string, part map[string]any) {
		for _, keyword := range comparing {
			if limit, ok := part[keyword]; ok {
				part[keyword] = withNumbers(limit, all.of)
			}
		}
		if n, ok := part["multipleOf"].(json.Number); ok {
			part["multipleOf"] = all.divisor[rational(n).RatString()]
		}
	})
	raw, _ = rawjson.Marshal(tree)
	document := &google.Schema{}
	_ = json.Unmarshal(raw, document) // it is one, since the schema that it is a copy of is
	return document
}

// rational returns the exact value of a number. One beyond the range of a float64 becomes the greatest, least or smallest that there
// is: that is on the same side of every limit in a schema.
func rational(n json.Number) *big.Rat {
	f := nearest(n)
	mantissa, _, _ := strings.Cut(strings.ToLower(string(n)), "e")
	if f == 0 && strings.ContainsAny(mantissa, "123456789") {
		f = math.SmallestNonzeroFloat64
		if n[0] == '-' {
			f = -f
		}
	} else if f != 0 && math.Abs(f) < math.MaxFloat64 && len(n) <= maxDigits {
		if r, ok := new(big.Rat).SetString(string(n)); ok {
			return r
		}
	}
	return new(big.Rat).SetFloat64(f)
}

// nearest returns the float64 that is nearest to a number.
func nearest(n json.Number) float64 {
	f, _ := n.Float64()
	return max(-math.MaxFloat64, min(f, math.MaxFloat64))
}

// eachNumber visits the numbers in a value.
func eachNumber(value any, visit func(json.Number)) {
	switch value := value.(type) {
	case json.Number:
		visit(value)
	case []any:
		for _, item := range value {
			eachNumber(item, visit)
		}
	case map[string]any:
		for _, member := range value {
			eachNumber(member, visit)
		}
	}
}

// withNumbers returns a copy of a value with other numbers.
func withNumbers(value any, number func(json.Number) float64) any {
	switch value := value.(type) {
	case json.Number:
		return number(value)
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = withNumbers(item, number)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(value))
		for name, member := range value {
			object[name] = withNumbers(member, number)
		}
		return object
	}
	return value
}
