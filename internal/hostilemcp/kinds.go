package hostilemcp

import (
	"maps"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Kinds returns the names of what a server can do wrong at a stage, sorted.
func Kinds(stage string) []string { return slices.Sorted(maps.Keys(kinds(stage))) }

// misbehaviour answers the request with an id, whose right result is given.
type misbehaviour func(s *Server, id, result string)

// kinds is the table of what a server can do wrong at a stage.
func kinds(stage string) map[string]misbehaviour {
	all := map[string]misbehaviour{
		"well": func(s *Server, id, result string) { s.answer(id, result) },
		// It does not answer.
		"silent":    func(*Server, string, string) {},
		"exit":      func(s *Server, _, _ string) { s.ended = true },
		"half":      func(s *Server, id, _ string) { s.say(`{"jsonrpc":"2.0","id":%s,"result":{`, id); s.ended = true },
		"no-output": func(s *Server, _, _ string) { _ = s.out.Close(); hang() },
		"no-pipes":  func(s *Server, _, _ string) { _ = s.out.Close(); _ = s.err.Close(); hang() },
		"unread":    func(*Server, string, string) { hang() },
		"drip": func(s *Server, _, _ string) {
			for s.say(" ") {
				time.Sleep(time.Second)
			}
		},
		// It does not end.
		"no-end":   func(*Server, string, string) { signal.Ignore(syscall.SIGTERM, syscall.SIGPIPE); hang() },
		"daemon":   func(s *Server, id, result string) { s.fork(nil); s.answer(id, result) },
		"stranger": func(s *Server, id, result string) { s.fork([]string{"A=B"}); s.answer(id, result) },
		// It sends without end.
		"endless-line": func(s *Server, id, _ string) {
			s.say(`{"jsonrpc":"2.0","id":%s,"result":{"x":"`, id)
			s.endlessly(strings.Repeat("x", 100))
		},
		"endless-text":    func(s *Server, _, _ string) { s.endlessly("Listening (%d)\n") },
		"endless-objects": func(s *Server, _, _ string) { s.endlessly(`{"level":"info","n":%d}` + "\n") },
		"endless-blanks":  func(s *Server, _, _ string) { s.endlessly("\n") },
		"endless-answers": func(s *Server, _, result string) { s.endlessly(`{"jsonrpc":"2.0","id":9%d,"result":` + result + "}\n") },
		"endless-changes": func(s *Server, _, _ string) { s.endlessly(notification("tools/list_changed", "{}")) },
		"endless-logs": func(s *Server, _, _ string) {
			s.endlessly(notification("message", `{"level":"error","data":"`+strings.Repeat("x", 1000)+`"}`))
		},
		"endless-progress": func(s *Server, _, _ string) {
			s.endlessly(notification("progress", `{"progressToken":`+orNull(s.token)+`,"progress":%d,"total":-1e308,"message":"`+strings.Repeat("x", 1000)+`"}`))
		},
		"endless-pings": func(s *Server, _, _ string) { s.endlessly(`{"jsonrpc":"2.0","id":"p%d","method":"ping"}` + "\n") },
		"endless-roots": func(s *Server, _, _ string) { s.endlessly(`{"jsonrpc":"2.0","id":"r%d","method":"roots/list"}` + "\n") },
		"endless-questions": func(s *Server, _, _ string) {
			s.endlessly(`{"jsonrpc":"2.0","id":"q%d","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}` + "\n" + `{"jsonrpc":"2.0","id":"e%d","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}` + "\n")
		},
		"endless-errors": func(s *Server, id, result string) {
			go func() {
				for {
					if _, err := s.err.Write([]byte(strings.Repeat("out of cheese ", 1000))); err != nil {
						return
					}
				}
			}()
			s.answer(id, result)
		},
		// Its answer is too long or too deep.
		"long": func(s *Server, id, _ string) {
			s.say(`{"jsonrpc":"2.0","id":%s,"result":{"x":"`, id)
			for range 100 {
				s.say("%s", strings.Repeat("x", 1<<20))
			}
			s.say("\"}}\n")
		},
		"deep-lists": func(s *Server, id, result string) {
			s.answer(id, with(result, strings.Repeat("[", 9_000)+strings.Repeat("]", 9_000)))
		},
		"deep-objects": func(s *Server, id, result string) {
			s.answer(id, with(result, strings.Repeat(`{"a":`, 9_000)+"1"+strings.Repeat("}", 9_000)))
		},
		"too-deep": func(s *Server, id, result string) {
			s.answer(id, with(result, strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)))
		},
		// Its answer is not one.
		"wrong-id": func(s *Server, id, result string) {
			s.answer(id+"000", result)
			s.answer(`"`+id+`"`, result)
			s.answer("null", result)
		},
		"twice":      func(s *Server, id, result string) { s.answer(id, result); s.answer(id, result) },
		"beforehand": func(s *Server, id, result string) { s.answer(id+"000", result); s.answer(id, result) },
		"old-rpc":    func(s *Server, id, result string) { s.say(`{"jsonrpc":"1.0","id":%s,"result":%s}`+"\n", id, result) },
		"no-rpc":     func(s *Server, id, result string) { s.say(`{"id":%s,"result":%s}`+"\n", id, result) },
		"batch":      func(s *Server, id, result string) { s.say(`[{"jsonrpc":"2.0","id":%s,"result":%s}]`+"\n", id, result) },
		"headers": func(s *Server, id, result string) {
			m := `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
			s.say("Content-Length: %d\r\n\r\n%s", len(m), m)
		},
		"both": func(s *Server, id, result string) {
			s.say(`{"jsonrpc":"2.0","id":%s,"result":%s,"error":{"code":-1,"message":"m"}}`+"\n", id, result)
		},
		"neither":       func(s *Server, id, _ string) { s.say(`{"jsonrpc":"2.0","id":%s}`+"\n", id) },
		"cancelled":     func(s *Server, id, _ string) { s.say("%s", notification("cancelled", `{"requestId":`+id+`}`)) },
		"result-null":   func(s *Server, id, _ string) { s.answer(id, "null") },
		"result-number": func(s *Server, id, _ string) { s.answer(id, "7") },
		"result-text":   func(s *Server, id, _ string) { s.answer(id, `"text"`) },
		"result-list":   func(s *Server, id, _ string) { s.answer(id, "[[]]") },
		"result-empty":  func(s *Server, id, _ string) { s.answer(id, "{}") },
		"error-text":    func(s *Server, id, _ string) { s.say(`{"jsonrpc":"2.0","id":%s,"error":"out of cheese"}`+"\n", id) },
		"error-empty":   func(s *Server, id, _ string) { s.say(`{"jsonrpc":"2.0","id":%s,"error":{}}`+"\n", id) },
		"error-long": func(s *Server, id, _ string) {
			s.say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"%s"}}`+"\n", id, strings.Repeat("x", 10<<20))
		},
		"garbage":     func(s *Server, id, _ string) { s.say(`{"jsonrpc":"2.0","id":%s,"result":`+"\n", id) },
		"not-utf8":    func(s *Server, id, result string) { s.answer(id, with(result, "\"\xff\xfe\xc0\x80\"")) },
		"nul":         func(s *Server, id, result string) { s.answer(id, with(result, "\"\x00\"")) },
		"escaped-nul": func(s *Server, id, result string) { s.answer(id, with(result, `"\u0000\ud800"`)) },
		"crlf": func(s *Server, id, result string) {
			s.say("\xef\xbb\xbf"+`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\r\n\r\n", id, result)
		},
	}
	switch stage {
	case "initialize":
		maps.Copy(all, handshakes())
	case "tools/list":
		maps.Copy(all, lists())
	case "tools/call":
		maps.Copy(all, calls())
	case "resources/list", "resources/read":
	default:
		return nil
	}
	return all
}

// with returns an object with a further member.
func with(object, value string) string { return object[:len(object)-1] + `,"more":` + value + "}" }

func orNull(value string) string {
	if value == "" {
		return "null"
	}
	return value
}

// hang does not return.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

func notification(method, params string) string {
	return `{"jsonrpc":"2.0","method":"notifications/` + method + `","params":` + params + "}\n"
}
