package shell

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// marking are values that leave a file PWN if any part of them is run.
var marking = []string{
	"$(>PWN)", "`>PWN`", "a[$(>PWN)]", "a[`>PWN`]", "x[$(>PWN)]+1", "-v a[$(>PWN)]", "-va[$(>PWN)]", "3 -o -v a[$(>PWN)]", "${z:-$(>PWN)}", "$((a[$(>PWN)]))", ";>PWN;", "x;>PWN #", "'$(>PWN)'",
	"\"$(>PWN)\"", "a[$(>PWN)]=1", "([$(>PWN)]=1)", "\n>PWN\n", "|>PWN", "&>PWN&", "()>PWN", "${a[$(>PWN)]}", "@(a)$(>PWN)", "\\$(>PWN)", "v", "w", "a[v]", "v[0]", "1",
}

// writer writes random commands.
type writer struct{ *rand.Rand }

func (w writer) of(choices ...string) string { return choices[w.IntN(len(choices))] }

// text returns a word that may hold the template, or a variable that may be set from it.
func (w writer) text(depth int) string {
	switch n := w.IntN(14); {
	case n < 4:
		return w.of(`"${x}"`, `"a${x}"`, `'${x}'`, `${x}`, `"${x}b"`)
	case n < 9:
		return w.of(`"$v"`, `$v`, `"$w"`, `$w`, `"$1"`, `$1`, `"$@"`, `"$${a[0]}"`, `"$${a[@]}"`, `"$${v%b}"`, `"$${v:-q}"`, `"$${u:-$v}"`, `"$${v/x/y}"`)
	case n < 10 && depth > 0:
		return `"$(` + w.simple(depth-1) + `)"`
	}
	return w.of(`1`, `k`, `"two words"`, `'$lit'`, `""`, `-n`, `"$i"`, `$((i + 1))`, `"$#"`)
}

// name returns a word where a shell expects the name of a variable.
func (w writer) name(depth int) string {
	if w.IntN(3) == 0 {
		return w.text(depth)
	}
	return w.of(`v`, `w`, `i`, `'a[v]'`, `"a[v]"`, `a[0]`, `'a[i]'`, `"a[$v]"`, `k`)
}

// number returns an operand of arithmetic.
func (w writer) number() string {
	return w.of(`1`, `i`, `v`, `w`, `$v`, `$i`, `$1`, `a[0]`, `a[v]`, `a[i]`, `$${#v}`, `$#`, `$(printf %s "$v")`, `$(echo 1)`, `"v"`, `(v)`, `$${a[0]}`, `${x}`, `"${x}"`)
}

func (w writer) arithmetic() string {
	return w.number() + w.of(``, ` + `+w.number(), ` > `+w.number(), ` * (`+w.number()+`)`)
}

// simple returns a simple command.
func (w writer) simple(depth int) string {
	t := func() string { return w.text(depth) }
	n := func() string { return w.name(depth) }
	switch w.IntN(34) {
	case 0, 1, 2:
		return `v=` + t()
	case 3:
		return `w=` + t()
	case 4:
		return `a=(` + t() + ` ` + t() + `)`
	case 5:
		return w.of(`export `, `readonly `, `declare `, `typeset `, `local `, `declare -i `, `typeset -i `, `declare -a `, `declare -n `, `declare -x `) + w.of(n(), `k=`+t(), `"k=$v"`, `i`)
	case 6:
		return `read -r ` + n() + w.of(` <<< `+t(), ` < f`, "")
	case 7:
		return `printf ` + w.of(`-v `+n()+` `, ``) + t() + ` ` + t()
	case 8:
		return `unset ` + n()
	case 9:
		return `let ` + w.of(`"k = v + 1"`, `"v"`, `v`, `i+=1`, `"$v"`, t())
	case 10:
		return `echo $((` + w.arithmetic() + `))`
	case 11:
		return `((` + w.arithmetic() + `))`
	case 12:
		return `[[ ` + w.of(t()+` `+w.of(`-gt`, `-eq`, `==`, `=~`)+` `+t(), `-v `+n(), `"v" -lt 3`, `-n `+t()) + ` ]]`
	case 13:
		return `[ ` + w.of(t()+` -gt `+t(), `-v `+n(), t()+` = `+t(), `-n `+t(), t()) + ` ]`
	case 14:
		return `test ` + w.of(`-n `+t(), t()+` `+t())
	case 15:
		return `echo b ` + w.of(`>&`, `1>&`, `2>&`, `<&`, `0<&`) + w.of(t(), `2`, `-`)
	case 16:
		return `echo ` + t() + w.of(` > f`, ` >> f`, ` 2>/dev/null`, ` > `+t())
	case 17:
		return `cat ` + w.of(`<<< `+t(), "<<E\n"+t()+"\n$v\nE\n", "<<'E'\n${x}\nE\n", `< f`)
	case 18:
		return `set -- ` + t() + ` ` + t()
	case 19:
		return `k=$(` + w.of(`printf %s `+t(), `cat f`, `echo `+t()) + `)`
	case 20:
		return `echo $${!v} "$${a[v]}" "$${v:i}"`
	case 21:
		return `echo "` + w.of(`$${!v}`, `$${a[v]}`, `$${v:w}`, `$${v@P}`, `$${v@Q}`, `$${a[$v]}`, `$${v^^}`, `$${m[$v]}`) + `"`
	case 22:
		return `eval ` + w.of(t(), `'echo $v'`, `"echo $i"`, `"$(echo `+t()+`)"`)
	case 23:
		return w.of(`. `, `source `) + w.of(`<(echo `+t()+`)`, `./none`, "/dev/stdin <<E\n"+t()+"\nE\n")
	case 24:
		return `trap ` + w.of(t(), `'echo "$v"'`, `'echo $((v))'`, `"echo $i"`) + ` EXIT`
	case 25:
		return w.of(`sh`, `bash`) + ` -c ` + w.of(`'echo $((v))'`, `'echo "$1"'`, `'[[ $1 -gt 1 ]]'`, `'eval "$v"'`, `'echo >&"$v"'`, t()) + ` sh ` + t()
	case 26:
		return `export v=` + t() + `; bash -c ` + w.of(`'echo $((v))'`, `'let v'`, `'echo "$v"'`, `'a=(1); unset "a[v]"'`)
	case 27:
		return w.of(`PS4`, `BASH_ENV`, `ENV`, `RANDOM`, `OPTIND`) + `=` + t() + w.of(``, ` bash -c :`)
	case 28:
		return w.of(`alias k=`, `mapfile -C `, `compgen -W `, `getopts ab `) + t()
	case 29:
		return t() + ` ` + t() // the command itself
	case 30, 31:
		return `a[` + w.of(`v`, `0`, `i`, `$v`, `$((i))`) + `]=` + t()
	case 32:
		return `command ` + w.of(`unset `+n(), `eval `+t(), `printf -v `+n()+` x`, `export `+n())
	}
	return `i=$((i + 1))`
}

// statement returns a command with others inside.
func (w writer) statement(depth int) string {
	if depth == 0 {
		return w.simple(1)
	}
	s := func() string { return w.statement(depth - 1) }
	switch w.IntN(16) {
	case 0:
		return `if ` + s() + "\nthen " + s() + "\nfi"
	case 1:
		return `for v in ` + w.text(1) + ` k; do ` + s() + "\ndone"
	case 2:
		return `set -- ` + w.text(1) + `; for v; do ` + s() + "\ndone"
	case 3:
		return `echo ` + w.text(1) + ` | while read -r v; do ` + s() + "\ndone"
	case 4:
		name := fmt.Sprint("f", depth) // no function calls itself
		return name + `() { ` + s() + "\n}; " + name + " " + w.text(1)
	case 5:
		return `for ((j = 0; j < ` + w.of(`2`, `v ? 1 : 2`, `i + 1`) + `; j++)); do ` + s() + "\ndone"
	case 6:
		return `case ` + w.text(1) + ` in ` + w.of(`a*`, `"$v"`, `$v`) + `) ` + s() + "\n;; *) " + s() + "\n;; esac"
	case 7:
		return `( ` + s() + "\n)"
	case 8:
		return `{ ` + s() + "\n} " + w.of(``, `2>/dev/null`, `>&`+w.text(1))
	}
	return s() + "\n" + s()
}

// TestRandomCommandsRunNoValue runs random commands with values that leave a mark if a part of them is run. A mark is allowed only if the
// check has warned that a value can become code for eval, source or ., or names the command.
func TestRandomCommandsRunNoValue(t *testing.T) {
	t.Parallel()
	commands := 5000
	if testing.Short() {
		commands = 150
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("SHELL_SEED"); text != "" {
		_, _ = fmt.Sscan(text, &seed)
		commands = 1
	}
	shells := [][]string{{"dash"}, {"bash"}, {"bash", "sh"}}
	shells = slices.DeleteFunc(shells, func(s []string) bool { _, err := exec.LookPath(s[0]); return err != nil })
	var wrong, warned, refused, ran atomic.Int64
	next := make(chan uint64)
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for seed := range next {
				w := writer{rand.New(rand.NewPCG(seed, 0))}
				command := `a=(1 2); i=0; ` + w.statement(w.IntN(4))
				if w.IntN(4) == 0 {
					command = strings.TrimPrefix(command, `a=(1 2); `) // in the syntax of every shell
				}
				s, problems := Parse(command, Options{Known: func(root string) bool { return root == "x" }})
				switch {
				case slices.ContainsFunc(problems, func(p Problem) bool { return !p.Warning }):
					wrong.Add(1)
					continue
				case slices.ContainsFunc(problems, func(p Problem) bool { return p.Kind == Code || p.Kind == Command || p.Kind == Program }):
					warned.Add(1)
					continue
				case len(s.Vars) == 0:
					continue
				}
				for range 3 {
					value := marking[w.IntN(len(marking))]
					if s.Refuses("${x}", value) != nil || slices.ContainsFunc(s.Vars, func(v Var) bool { return v.Accepts(value) != nil }) {
						refused.Add(1)
						continue
					}
					values := make([]string, len(s.Vars))
					for i := range values {
						values[i] = value
					}
					rendered, variables := s.Render(values)
					for _, shell := range shells {
						if s.Bash && shell[0] != "bash" {
							continue
						}
						if ran.Add(1); marked(t, shell, rendered, variables) {
							t.Errorf("SHELL_SEED=%d: %v ran %q in\n%s\nwith the warnings %v, want no mark", seed, shell, value, command, problems)
						}
					}
				}
			}
		})
	}
	for n := range commands {
		next <- seed + uint64(n)
	}
	close(next)
	wait.Wait()
	t.Logf("%d commands from seed %d: %d are errors, %d have a warning of code, %d values were refused, %d runs", commands, seed, wrong.Load(), warned.Load(), refused.Load(), ran.Load())
}

// marked runs a command and reports whether it has left a mark.
func marked(t *testing.T, shell []string, command string, variables []string) bool {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "f"), "1\n")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // some loop for ever
	defer cancel()
	cmd := exec.CommandContext(ctx, shell[0], "-c", command)
	cmd.Args[0] = shell[len(shell)-1]
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8"}, variables...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 100 * time.Millisecond
	defer func() { _ = cmd.Cancel() }()
	_ = cmd.Run() // a command may fail
	_, err := os.Stat(filepath.Join(dir, "PWN"))
	return err == nil
}
