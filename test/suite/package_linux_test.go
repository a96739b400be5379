package suite

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tree is the root of a system of its own, with what the packages of a minimal Debian have.
type tree struct {
	*testing.T
	root string
}

// newTree copies the programs of the packages that each Debian has, and the libraries that they load.
func newTree(t *testing.T) *tree {
	t.Helper()
	needs(t, "dpkg", "dpkg-deb", "dpkg-query", "ldd", "unshare")
	tr := &tree{t, t.TempDir()}
	for _, folder := range []string{"bin", "dev", "etc", "proc", "root", "tmp", "usr/bin", "var/log", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"} {
		if err := os.MkdirAll(filepath.Join(tr.root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tr.write("var/lib/dpkg/status", "")
	tr.write("var/lib/dpkg/available", "")
	files := tr.outside("dpkg-query --listfiles bash coreutils dash findutils grep sed | grep -E '^(/usr)?/bin/.' | xargs -r ls -d")
	programs := strings.Fields(files)
	libraries := regexp.MustCompile(`/\S+`).FindAllString(tr.outside("ldd "+strings.Join(programs, " ")+` 2>/dev/null | grep -oE '/[^ :]+ \(' | tr -d '( ' | sort -u`), -1)
	for _, path := range append(programs, libraries...) {
		tr.outside("mkdir -p $(dirname $1" + path + ") && cp -L " + path + " $1" + path)
	}
	if o := tr.inside("echo ready | sed s/ready/works/"); o.stdout != "works\n" {
		t.Skipf("no tree of its own can be made here: %s", o)
	}
	return tr
}

func (tr *tree) write(name, content string) {
	tr.Helper()
	if err := os.WriteFile(filepath.Join(tr.root, name), []byte(content), 0o600); err != nil {
		tr.Fatal(err)
	}
}

// outside runs a command with the machine's programs; $1 is the tree. It must succeed.
func (tr *tree) outside(command string) string {
	tr.Helper()
	o := tr.run(exec.Command("unshare", "-r", "sh", "-c", command, "sh", tr.root))
	if o.exit != 0 {
		tr.Fatalf("%s: %s", command, o)
	}
	return o.stdout
}

// inside runs a command with the tree as its root, and with nothing of the environment.
func (tr *tree) inside(command string) outcome {
	tr.Helper()
	const enter = `mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && cd "$1" &&
		exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin /bin/sh -c "cd && $2"`
	return tr.run(exec.Command("unshare", "-rm", "sh", "-c", enter, "sh", tr.root, command))
}

// must runs a command with the tree as its root. It must succeed.
func (tr *tree) must(command string) string {
	tr.Helper()
	o := tr.inside(command)
	if o.exit != 0 {
		tr.Fatalf("%s: %s", command, o)
	}
	return o.stdout
}

func (tr *tree) run(cmd *exec.Cmd) outcome {
	tr.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin:/sbin")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		tr.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// home returns the files of the home in the tree, except those of a run, with their sums.
func (tr *tree) home(run string) string {
	tr.Helper()
	return tr.must("find .pflow -type f -not -path '*" + run + "*' -exec sha256sum {} + | sort -k 2")
}

// block returns the content of the first block of README that contains a text.
func block(t *testing.T, text string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```[^\n]+\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1) {
		if strings.Contains(m[1], text) {
			return m[1]
		}
	}
	t.Fatalf("README has no block with %s", text)
	return ""
}

// older makes a package of an earlier version, which lacks some programs and has one that is gone since.
func (tr *tree) older(deb string) string {
	tr.Helper()
	folder := tr.TempDir()
	tr.outside("dpkg-deb -R '" + deb + "' " + folder + "/old && cd " + folder + "/old && rm usr/bin/pflow-node-llm usr/bin/veloflux-mcp && " +
		"printf '#!/bin/sh\\n' > usr/bin/pflow-gone && sed -i 's/^Version: .*/Version: 0.0.1/' DEBIAN/control && dpkg-deb -Zgzip -z1 -b . ../old.deb")
	return filepath.Join(folder, "old.deb")
}

// packaged returns the path of a package that an environment variable names, or skips the test.
func packaged(t *testing.T, variable string) string {
	t.Helper()
	file := os.Getenv(variable)
	if file == "" {
		t.Skip(variable + " is not set: use scripts/test --all")
	}
	return file
}

// begins follows the first lines of README, and its first workflow.
func (tr *tree) begins() {
	tr.Helper()
	for line := range strings.Lines(block(tr.T, "pflow-lib new first")) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			tr.must(strings.TrimSpace(command))
		}
	}
	for line := range strings.Lines(block(tr.T, "pflow-serve install claude-code")) {
		tr.must(strings.TrimSpace(line))
	}
	if got := tr.must("pflow-exec run hello who=Ada --print greeting && pflow-exec list | grep -c completed"); got != "Hello, Ada\n2\n" {
		tr.Errorf("hello prints %q", got)
	}
	tr.write("root/disk.json", block(tr.T, `"id": "report"`))
	if got := tr.must("pflow-exec run disk.json dir=/usr --print files && cut -d, -f1 disk.txt"); !regexp.MustCompile(`^(\d+)\n\d+ files\n$`).MatchString(got) {
		tr.Errorf("disk.json prints %q", got)
	}
}

// hasPrograms fails the test unless the tree has the programs of the suite, with a man page of each.
func (tr *tree) hasPrograms() {
	tr.Helper()
	for _, files := range []string{"/usr/bin/pflow-* /usr/bin/veloflux-*", "/usr/share/man/man1/*"} {
		if got := tr.must("ls " + files); strings.Contains(got, "pflow-gone") || len(strings.Fields(got)) != len(programs) {
			tr.Errorf("there are %s", got)
		}
	}
}

// goes removes the package. It must leave nothing of itself, and the home as it is.
func (tr *tree) goes(remove func()) {
	tr.Helper()
	before := tr.home("none")
	remove()
	if left := tr.must(`find / -xdev \( -name 'pflow*' -o -name 'veloflux*' \) -not -path '/root/*' -not -path '/proc/*' -not -path '/var/*'`); left != "" {
		tr.Errorf("the removal leaves %s", left)
	}
	if after := tr.home("none"); after != before {
		tr.Errorf("the removal changed the home from\n%s\nto\n%s", before, after)
	}
}

// TestDebianPackage installs an older package into a tree of its own, follows the first lines of README in it, upgrades while a run is live,
// and removes the package. The run goes on, and the home stays as it is.
func TestDebianPackage(t *testing.T) {
	t.Parallel()
	deb := packaged(t, "CASE_DEB")
	tr := newTree(t)
	install := func(deb string) { tr.outside(`dpkg --root="$1" --install '` + deb + "'") }
	install(tr.older(deb))
	tr.begins()

	tr.write("root/wait.json", `{"nodes": [{"id": "wait", "type": "shell", "params": {"command": "until test -e go; do sleep 0.05; done; echo gone on"}}],
		"outputs": {"end": {"source": "${wait.stdout}"}}}`)
	run := strings.TrimSpace(tr.must("pflow-exec start wait.json --format text"))
	tr.must("until pflow-exec events " + run + " | grep -q node_started; do sleep 0.05; done")
	before := tr.home(run)
	install(deb)
	tr.hasPrograms()
	if after := tr.home(run); after != before {
		t.Errorf("the upgrade changed the home from\n%s\nto\n%s", before, after)
	}
	if got := tr.must("touch go && pflow-exec wait " + run + " --print end"); got != "gone on\n" {
		t.Errorf("the live run prints %q", got)
	}
	tr.goes(func() { tr.outside(`dpkg --root="$1" --purge pflow`) })
}

// TestRPMPackage installs the package for RPM into a tree of its own, follows the first lines of README in it, and removes the package.
func TestRPMPackage(t *testing.T) {
	t.Parallel()
	file := packaged(t, "CASE_RPM")
	needs(t, "rpm")
	tr := newTree(t)
	// Ids of files belong to root, the only user of the tree, and Debian has no database of RPM packages.
	tr.outside(`rpm --root="$1" --initdb && rpm --root="$1" --install '` + file + "'")
	tr.outside(`rpm --root="$1" --verify pflow`)
	tr.hasPrograms()
	tr.begins()
	tr.goes(func() { tr.outside(`rpm --root="$1" --erase pflow`) })
}
