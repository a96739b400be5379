package hostilemcp

import (
	"strconv"
	"strings"
)

// handshakes is the table of what can be wrong with an answer to initialize alone.
func handshakes() map[string]misbehaviour {
	version := func(v string) misbehaviour {
		return func(s *Server, id, _ string) {
			s.answer(id, `{"protocolVersion":`+v+`,"capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}}`)
		}
	}
	return map[string]misbehaviour{
		"wrong-revision":  version(`"1999-01-01"`),
		"revision-number": version("2025"),
		"revision-empty":  version(`""`),
		"capabilities": func(s *Server, id, _ string) {
			s.answer(id, `{"protocolVersion":"2025-11-25","capabilities":[true],"serverInfo":"hostile"}`)
		},
	}
}

// lists is the table of what can be wrong with a list of tools alone.
func lists() map[string]misbehaviour {
	page := 0
	named := func(name string) string { return `{"name":` + name + `,"inputSchema":{"type":"object"}}` }
	many := func(n int) string {
		tools := make([]string, n)
		for i := range tools {
			tools[i] = named(`"tool-` + strconv.Itoa(page*n+i) + `"`)
		}
		return strings.Join(tools, ",")
	}
	list := func(tools ...string) misbehaviour {
		return func(s *Server, id, _ string) { s.answer(id, `{"tools":[`+strings.Join(tools, ",")+`]}`) }
	}
	paged := func(tools int, cursor func() string) misbehaviour {
		return func(s *Server, id, _ string) {
			page++
			s.answer(id, `{"tools":[`+many(tools)+`],"nextCursor":`+cursor()+`}`)
		}
	}
	next := func() string { return `"` + strconv.Itoa(page) + `"` }
	good := named(`"t"`)
	return map[string]misbehaviour{
		"empty-pages":  paged(0, next),
		"full-pages":   paged(100, next),
		"same-page":    paged(1, func() string { return `"again"` }),
		"long-cursors": paged(0, func() string { return `"` + strings.Repeat("x", 1<<20) + strconv.Itoa(page) + `"` }),
		"cursor-7":     func(s *Server, id, _ string) { s.answer(id, `{"tools":[`+good+`],"nextCursor":7}`) },
		"many-tools":   func(s *Server, id, _ string) { s.answer(id, `{"tools":[`+many(100_000)+`]}`) },
		"object":       func(s *Server, id, _ string) { s.answer(id, `{"tools":{"t":`+good+`}}`) },
		"text":         func(s *Server, id, _ string) { s.answer(id, `{"tools":"t"}`) },
		"null":         func(s *Server, id, _ string) { s.answer(id, `{"tools":null}`) },
		"same-names":   list(strings.Split(strings.Repeat(good+" ", 999)+good, " ")...),
		"odd-tools":    list(good, "null", "7", `"t"`, "[]", "{}", named("null"), named("7"), named(`""`), named(`{"a":1}`), named(`["t"]`)),
		"odd-names":    list(good, named(`"`+strings.Repeat("n", 1<<20)+`"`), named(`"a\u0000b"`), named(`"a\nb\u001b[2J"`), named(`"../../canary"`), named(`"`+strings.Repeat("検索", 100)+`"`), named(`"-"`), named(`" "`), named(`"--help"`), named(`"${HOME}"`)),
		"odd-schemas": list(good,
			`{"name":"a","inputSchema":null}`, `{"name":"b","inputSchema":true}`, `{"name":"c","inputSchema":"object"}`, `{"name":"d","inputSchema":[]}`, `{"name":"e"}`,
			`{"name":"f","inputSchema":{"type":"array"}}`, `{"name":"g","inputSchema":{"properties":[]}}`, `{"name":"h","inputSchema":{"properties":{"x":7},"required":"x"}}`,
			`{"name":"i","inputSchema":{"$ref":"#"}}`, `{"name":"j","inputSchema":{"$ref":"http://127.0.0.1:1/schema.json"}}`, `{"name":"k","description":7,"title":[],"annotations":"x","outputSchema":3,"_meta":null}`),
		"large": func(s *Server, id, _ string) {
			s.answer(id, `{"tools":[`+good+`,{"name":"large","description":"`+strings.Repeat("x", 8<<20-1000)+`"}]}`)
		},
		"long-texts": func(s *Server, id, _ string) {
			s.answer(id, `{"tools":[{"name":"t","description":"`+strings.Repeat("long ", 2<<20)+`","inputSchema":{"type":"object"}}]}`)
		},
	}
}

// calls is the table of what can be wrong with the result of a call alone.
func calls() map[string]misbehaviour {
	result := func(text string) misbehaviour { return func(s *Server, id, _ string) { s.answer(id, text) } }
	return map[string]misbehaviour{
		"content-text":       result(`{"content":"done"}`),
		"content-object":     result(`{"content":{"type":"text","text":"done"}}`),
		"content-scalars":    result(`{"content":[7,"done",null,[],{}]}`),
		"content-null":       result(`{"content":null}`),
		"content-unknown":    result(`{"content":[{"type":"hologram","data":"x"}]}`),
		"content-deep":       result(`{"content":[{"type":"text","text":"` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `"}]}`),
		"error-flag-text":    result(`{"content":[],"isError":"true"}`),
		"error-flag-number":  result(`{"content":[],"isError":1}`),
		"structured-scalar":  result(`{"content":[],"structuredContent":7}`),
		"structured-text":    result(`{"content":[],"structuredContent":"done"}`),
		"structured-list":    result(`{"content":[],"structuredContent":[1]}`),
		"structured-deep":    result(`{"content":[],"structuredContent":` + strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_000) + `}`),
		"result-type":        result(`{"content":[],"resultType":"half"}`),
		"result-type-number": result(`{"content":[],"resultType":7}`),
		"image-no-base64":    result(`{"content":[{"type":"image","data":"no base64!","mimeType":"image/png"}]}`),
		"image-number":       result(`{"content":[{"type":"image","data":7,"mimeType":7}]}`),
		"image-large": func(s *Server, id, _ string) {
			s.answer(id, `{"content":[{"type":"image","data":"`+strings.Repeat("QUJD", 10<<20)+`","mimeType":"image/png"}]}`)
		},
		"many-blocks": result(`{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 100_000) + `{}]}`),
		"same-keys":   result(`{"content":[],"content":[{"type":"text","text":"done"}],"isError":false,"isError":true}`),
	}
}
