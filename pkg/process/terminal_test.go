package process

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// at returns a command that runs a script at a terminal.
func at(script, stdin string) (Command, *bytes.Buffer) {
	c, out, _ := sh(script)
	c.TTY = true
	if stdin != "" {
		c.Stdin = strings.NewReader(stdin)
	}
	return c, out
}

func TestATerminal(t *testing.T) {
	const getpass = `python3 -c 'import getpass; print(len(getpass.getpass("Password: ")), len(getpass.getpass("Again: ")))'`
	const typed = `python3 -c 'import select; select.select([0], [], [])'; ` // waits until something is typed, and does not read it
	for name, c := range map[string]struct{ script, stdin, want string }{
		"its size":                  {"tput cols; tput lines; stty size", "", "80\n24\n24 80\n"},
		"its type":                  {"echo $TERM", "", "xterm-256color\n"},
		"all three":                 {"test -t 0 -a -t 1 -a -t 2 && echo yes", "", "yes\n"},
		"controls":                  {"echo hidden >/dev/null; echo shown >/dev/tty", "", "shown\n"},
		"stderr too":                {"echo a; echo b >&2", "", "a\nb\n"},
		"line ends":                 {`printf 'a\r\nb\rc\n\r'`, "", "a\r\nb\rc\n\r"},
		"nobody types":              {"cat; cat; echo end", "", "end\n"},
		"lines":                     {"stty -echo; cat", "one\ntwo\n", "one\ntwo\n"},
		"echoed":                    {"cat", "one\n", "one\none\n"},
		"a last line without end":   {"stty -echo; read -r a; echo \"$a\"", "one", "one\n"},
		"a long line":               {"stty -echo; wc -c", strings.Repeat("x", 10_000) + "\n", "10001\n"},
		"what is read twice":        {"stty -echo; head -n 1; cat", "one\ntwo\n", "one\ntwo\n"},
		"reopened":                  {"exec </dev/null >/dev/null 2>&1; sleep 0.1; echo shown >/dev/tty", "", "shown\n"},
		"passwords":                 {getpass, "secret\nsecret\n", "Password: \nAgain: \n6 6\n"},
		"a password after a line":   {`printf 'Name: '; read name; ` + getpass + `; echo "$name"`, "ada\nsecret\nsecret\n", "Name: ada\nPassword: \nAgain: \n6 6\nada\n"},
		"a password asked for late": {typed + getpass, "secret\nother!\n", "secret\nPassword: \nAgain: \n6 6\n"},
		"and behind a banner":       {"echo hello; " + typed + getpass, "secret\nother!\n", "hello\nsecret\nPassword: \nAgain: \n6 6\n"},
		"keys":                      {`stty -icanon -echo min 1; dd bs=1 count=3 2>/dev/null | od -An -c; echo end`, "a\nb", "   a  \\n   b\nend\n"},
		"keys as they are":          {`stty raw -echo; dd bs=1 count=3 2>/dev/null | od -An -c; stty -raw; echo end`, "a\nb", "   a  \\r   b\nend\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.script, "python3") {
				if _, err := exec.LookPath("python3"); err != nil {
					t.Skip("there is no python3 here")
				}
			}
			t.Parallel()
			command, out := at(c.script, c.stdin)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if exit, err := Run(ctx, command); err != nil || exit.Code != 0 || out.String() != c.want {
				t.Errorf("%+v %v\ngot  %q\nwant %q", exit, err, out.String(), c.want)
			}
		})
	}
}

var errEnough = errors.New("enough")

func TestResults(t *testing.T) {
	for name, tty := range map[string]bool{"pipes": false, "a terminal": true} {
		t.Run(name, func(t *testing.T) {
			var results bytes.Buffer
			c, out, errs := sh("echo result >&3; echo out; test -t 3 || echo more >&3; exec 3>&-; echo late >&3")
			c.Results, c.TTY = &results, tty
			exit, err := Run(t.Context(), c)
			if err != nil || exit.Code == 0 || results.String() != "result\nmore\n" || !strings.HasPrefix(out.String(), "out\n") || tty != (errs.Len() == 0) {
				t.Errorf("%+v %v: %q, stdout %q, stderr %q", exit, err, results.String(), out, errs)
			}
			c, out, _ = sh("(echo there >&3) 2>/dev/null || echo none")
			c.TTY = tty
			if _, err := Run(t.Context(), c); err != nil || out.String() != "none\n" {
				t.Errorf("without results: %v %q", err, out)
			}
		})
	}
}

// Results are read to their end even if stdout has ended. They do not delay the end of a child that has left them open in
// another process.
func TestResultsAreReadToTheirEnd(t *testing.T) {
	var results bytes.Buffer
	c, _, _ := sh("exec >&- 2>&-; seq 100000 >&3; setsid sleep 100 & echo $! >&3")
	c.Results = &results
	if _, err := Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(results.String())
	if len(lines) != 100_001 {
		t.Fatalf("%d lines", len(lines))
	}
	pid, err := strconv.Atoi(lines[100_000])
	if err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("%v %v", lines[100_000], err)
	}
}

// Input is not read in advance: it is read only as far as the child reads.
func TestASourceWithoutEndIsNoHindrance(t *testing.T) {
	c, out := at("stty -echo; head -n 2", "")
	c.Stdin = endless{}
	if exit, err := Run(t.Context(), c); err != nil || exit.Code != 0 || out.String() != "y\ny\n" {
		t.Errorf("%+v %v %q", exit, err, out)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = "y\n"[i%2]
	}
	return len(p), nil
}

func TestCarriageReturnsBetweenPackets(t *testing.T) {
	for _, c := range []struct {
		packets []string
		want    string
	}{
		{[]string{"a\r", "\nb"}, "a\nb"}, {[]string{"a\r", "b"}, "a\rb"}, {[]string{"a\r"}, "a\r"}, {[]string{"\r", "\r\n"}, "\r\n"}, {[]string{"\r\n\r\n"}, "\n\n"},
	} {
		var out bytes.Buffer
		screen := &terminal{ours: noFD, child: noFD, screen: &out, packets: true}
		for _, p := range c.packets {
			if n, err := screen.Write(append([]byte{0}, p...)); n != 1+len(p) || err != nil {
				t.Error(n, err)
			}
		}
		if screen.close(); out.String() != c.want {
			t.Errorf("%q: %q", c.packets, out.String())
		}
	}
}
