// Licenses prints the licenses of the modules that are linked into the programs of the suite, as THIRD_PARTY_LICENSES has them.
//
//	go run ./scripts/licenses > THIRD_PARTY_LICENSES
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	text, err := licenses()
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
	_, _ = os.Stdout.Write(text)
}

// module is a module that is linked into a program.
type module struct{ path, version, dir string }

// linked returns the modules, besides this one, that the programs link on the systems that they are built for, sorted.
func linked() ([]module, error) {
	found := map[module]bool{}
	for _, system := range []string{"linux", "darwin"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/...")
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		lines := bufio.NewScanner(bytes.NewReader(out))
		for lines.Scan() {
			if fields := strings.Split(lines.Text(), "\t"); len(fields) == 3 {
				found[module{fields[0], fields[1], fields[2]}] = true
			}
		}
	}
	modules := make([]module, 0, len(found))
	for m := range found {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return cmp.Compare(a.path, b.path) })
	return modules, nil
}

// licenses returns the text of all licenses, and of the notices that must go along with them.
func licenses() ([]byte, error) {
	modules, err := linked()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	text.WriteString("The programs of pflow contain these modules, under these licenses.\n")
	for _, m := range modules {
		entries, err := os.ReadDir(m.dir)
		if err != nil {
			return nil, err
		}
		n := 0
		for _, e := range entries {
			name := strings.ToUpper(e.Name())
			if e.IsDir() || !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && !strings.HasPrefix(name, "NOTICE") {
				continue
			}
			content, err := os.ReadFile(filepath.Join(m.dir, e.Name()))
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "\n%[1]s\n%[2]s %[3]s: %[4]s\n%[1]s\n\n%[5]s\n", strings.Repeat("=", 80), m.path, m.version, e.Name(), bytes.TrimSpace(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))))
			n++
		}
		if n == 0 {
			return nil, fmt.Errorf("%s %s has no license file", m.path, m.version)
		}
	}
	return text.Bytes(), nil
}
