package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/workflow/yaml"
)

// installed are the names that the page gives the folder of the programs: in a unit of systemd, and for cron.
var installed = []string{"%h/.local/bin", "/home/ada/.local/bin"}

// kitchen returns a folder with the files that a section of the cookbook shows and the workflow of the page, which is also saved in the
// home. It replaces the folder of the programs in what the page shows.
func kitchen(t *testing.T, section string) *folder {
	t.Helper()
	p := readPage(t, cookbook)
	for i, line := range p.lines {
		for _, folder := range installed {
			line = strings.ReplaceAll(line, folder, programs(t))
		}
		p.lines[i] = line
	}
	f := newFolder(t)
	f.writeAll(t, p, "")
	f.writeAll(t, p, section)
	f.prints(t, "mkdir -p home/workflows && cp disk.json home/workflows/ && pflow-lib save disk disk-report > saved.json && pflow-lib list | grep -c disk-report", "1")
	return f
}

// shows returns the content of the file that a section of the cookbook shows under a name, as kitchen wrote it.
func (f *folder) shows(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// value returns what a mapping has for some keys, one inside the other.
func value(n yaml.Node, keys ...string) yaml.Node {
	for _, key := range keys {
		entry, _ := n.Get(key)
		n = entry.Value
	}
	return n
}

// as runs a command line with sh as another program does, in an environment of its own, and returns its output and exit status.
func (f *folder) as(t *testing.T, command string, env ...string) (stdout, stderr string, exit int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
	cmd.Dir, cmd.Env = f.dir, env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestCron runs the lines of the crontab as cron does: with sh, in the home, with the variables that cron sets and those of the crontab.
func TestCron(t *testing.T) {
	t.Parallel()
	f := kitchen(t, "cron")
	env := []string{"HOME=" + f.dir, "LOGNAME=ada", "SHELL=/bin/sh", "PFLOW_HOME=" + filepath.Join(f.dir, "home")}
	jobs := 0
	for line := range strings.Lines(f.shows(t, "crontab")) {
		line = strings.TrimSpace(line)
		if m := regexp.MustCompile(`^([A-Z]+)=(.*)$`).FindStringSubmatch(line); m != nil {
			env = append(env, line)
			continue
		}
		m := regexp.MustCompile(`^(?:[0-9*/,-]+\s+){5}(\S.*)$`).FindStringSubmatch(line)
		if m == nil {
			if !strings.HasPrefix(line, "#") {
				t.Errorf("cron does not understand %q", line)
			}
			continue
		}
		jobs++
		command := m[1]
		if strings.Contains(strings.ReplaceAll(command, `\%`, ""), "%") {
			t.Errorf("cron ends the command at a %%: %s", command)
		}
		quiet := strings.HasSuffix(command, "> /dev/null")
		command = strings.ReplaceAll(command, "dir=/tmp", "dir=.")
		if stdout, stderr, exit := f.as(t, command, env...); exit != 0 || stderr != "" || (stdout == "") != quiet {
			t.Errorf("%s: exit status %d, and mails %q %q", command, exit, stdout, stderr)
		}
		large := strings.Replace(command, "limit:=5000000", "", 1)
		large = strings.Replace(large, "run disk-report", "run disk-report limit:=0", 1)
		if stdout, stderr, exit := f.as(t, large, env...); exit != 1 || stdout != "" || !strings.Contains(stderr, "node judge") {
			t.Errorf("%s: exit status %d, and mails %q %q", large, exit, stdout, stderr)
		}
	}
	if jobs != 2 {
		t.Errorf("the crontab has %d jobs", jobs)
	}
}

// TestSystemd has systemd check the units, and runs the commands of the service.
func TestSystemd(t *testing.T) {
	t.Parallel()
	f := kitchen(t, "systemd timer")
	service := f.shows(t, "disk-report.service")
	setting := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `=(.*)$`).FindStringSubmatch(service)
		if m == nil {
			t.Fatalf("the service has no %s", name)
		}
		return strings.NewReplacer("%h", f.dir, "%S", f.dir).Replace(m[1])
	}
	start, stop := setting("ExecStart"), setting("ExecStopPost")
	checkpoint := filepath.Join(setting("StateDirectory"), "run.ndjson")
	f.write(t, filepath.Join(setting("StateDirectory"), "made"), "")
	env := []string{"HOME=" + f.dir, "PATH=/usr/bin:/bin", "PFLOW_HOME=" + filepath.Join(f.dir, "home")}
	if stdout, stderr, exit := f.as(t, start, env...); exit != 0 || stderr != "" || !strings.Contains(stdout, " files, ") {
		t.Errorf("%s: exit status %d, %q %q", start, exit, stdout, stderr)
	}
	for _, c := range []struct{ code, left string }{{"killed", checkpoint}, {"exited", ""}} {
		_, stderr, exit := f.as(t, stop, append(slices.Clone(env), "EXIT_CODE="+c.code)...)
		if left, _, _ := f.as(t, "ls "+checkpoint+" 2>/dev/null", env...); exit != 0 || stderr != "" || strings.TrimSpace(left) != c.left {
			t.Errorf("%s for %s: exit status %d, %q, and leaves %q", stop, c.code, exit, stderr, left)
		}
	}

	needs(t, "systemd-analyze")
	if out, err := exec.Command("systemd-analyze", "verify", filepath.Join(f.dir, "disk-report.service"), filepath.Join(f.dir, "disk-report.timer")).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}

// TestActions runs the steps of the job as a runner of GitHub Actions does, except those that are actions and the installation, which
// must name the module.
func TestActions(t *testing.T) {
	t.Parallel()
	needs(t, "bash")
	f := kitchen(t, "GitHub Actions")
	source := f.shows(t, ".github/workflows/disk.yml")
	root, faults := yaml.Parse(source, 0, len(source), 0)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	steps := value(root, "jobs", "report", "steps").Items
	ran, installs := 0, 0
	for _, step := range steps {
		command := value(step, "run").Text
		switch {
		case value(step, "uses").Text != "":
		case strings.HasPrefix(command, "go install "):
			installs++
			out, err := exec.Command("go", "list", "-m").Output()
			if want := strings.TrimSpace(string(out)) + "/cmd/...@latest"; err != nil || command != "go install "+want {
				t.Errorf("%s is not the installation of %s", command, want)
			}
		default:
			ran++
			script := "cd " + f.dir + "\nset -eo pipefail\n" + command
			cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-c", script)
			cmd.Env = append(slices.Clone(f.env), "GITHUB_STEP_SUMMARY="+filepath.Join(f.dir, "summary.md"), "CI=true")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", command, err, out)
			}
		}
	}
	if ran != 3 || installs != 1 {
		t.Errorf("%d steps ran, and %d install", ran, installs)
	}
	f.prints(t, "grep -c ' files, ' summary.md; grep -c -i '<!doctype html>' run.html", "1\n1")
}

// TestSkillOfAWorkflow holds the skill that the page shows to the format of agentskills.io, and runs its command.
func TestSkillOfAWorkflow(t *testing.T) {
	t.Parallel()
	f := kitchen(t, "An agent's skill")
	head, body, ok := strings.Cut(strings.TrimPrefix(f.shows(t, "skills/disk-report/SKILL.md"), "---\n"), "\n---\n\n")
	if !ok {
		t.Fatal("the skill has no head")
	}
	fields, faults := yaml.Parse(head, 0, len(head), 0)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	name, description := value(fields, "name").Text, value(fields, "description").Text
	if name != "disk-report" || description == "" || len(description) > 1024 || strings.ContainsAny(description, "<>") {
		t.Errorf("name %q, description %q", name, description)
	}
	commands := regexp.MustCompile(`(?m)^    (.*)$`).FindAllStringSubmatch(body, -1)
	if len(commands) != 1 {
		t.Fatalf("the skill has %d commands", len(commands))
	}
	if stdout, stderr, exit := f.as(t, commands[0][1], f.env...); exit != 0 || stderr != "" || !strings.Contains(stdout, " files, ") {
		t.Errorf("%s: exit status %d, %q %q", commands[0][1], exit, stdout, stderr)
	}
}
