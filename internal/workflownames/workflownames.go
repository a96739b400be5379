// Package workflownames makes names of workflows as people and systems give them: of every script and length, and the same name for
// several.
package workflownames

import (
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// alphabets are ranges of characters from which words are made.
var alphabets = [][2]rune{
	{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {0x20, 0x7e}, {0xc0, 0x17f}, {0x370, 0x3ff}, {0x400, 0x4ff}, {0x5d0, 0x5ea}, {0x620, 0x64a}, {0x904, 0x939},
	{0xe01, 0xe30}, {0x3041, 0x3096}, {0x4e00, 0x9fff}, {0xac00, 0xd7a3}, {0x1f300, 0x1f5ff}, {0x200b, 0x202e}, {0x300, 0x36f}, {0x10000, 0x100ff},
}

// tools are names that a server has itself, and others that differ little from them.
var tools = []string{"execute", "Execute", "run_status", "run-status", "run status", "refresh_workflows", "list_runs", "browse_components", "save_to_library", "-", "_", ".", "a--b", "a b"}

// Make returns n names, which depend only on the seed. Some are the same, many are nearly so.
func Make(seed uint64, n int) []string {
	random := rand.New(rand.NewPCG(seed, 1))
	names := make([]string, n)
	for i := range names {
		switch of := random.IntN(20); {
		case of == 0:
			names[i] = tools[random.IntN(len(tools))]
		case of <= 2 && i > 0:
			names[i] = names[random.IntN(i)]
		case of <= 4 && i > 0: // the same in another spelling
			names[i] = strings.ToUpper(names[random.IntN(i)]) + strings.Repeat(" ", random.IntN(2)) + "!"
		default:
			names[i] = text(random)
		}
		if strings.TrimSpace(names[i]) == "" || !utf8.ValidString(names[i]) {
			names[i] = "x"
		}
	}
	return names
}

func text(random *rand.Rand) string {
	length := 1 + random.IntN(30)
	if random.IntN(20) == 0 {
		length = 1 + random.IntN(3000)
	}
	from := alphabets[random.IntN(len(alphabets))]
	var name strings.Builder
	for range length {
		if random.IntN(10) == 0 {
			from = alphabets[random.IntN(len(alphabets))]
		}
		name.WriteRune(from[0] + random.Int32N(from[1]-from[0]+1))
	}
	return name.String()
}
