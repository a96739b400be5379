package shell

import (
	"strings"
	"testing"
)

func TestDangerousCommands(t *testing.T) {
	for command, want := range map[string]string{
		`rm -rf /`: "rm -rf /", `rm -fr -- /*`: "rm -fr /*", `rm -rf "/"`: "rm -rf /", `sudo rm -rf /`: "rm -rf /", `cd x && rm -r --force /`: "rm -r --force /",
		`/bin/rm -Rf //`: "rm -Rf //", `rm -rf / tmp/x`: "rm -rf /", `rm / -rf`: "rm -rf /", `rm --recursive /.`: "rm --recursive /.", `rm -rf ~`: "rm -rf ~",
		`rm -rf "$HOME"/*`: "rm -rf ~/*", `if true; then rm -rf /; fi`: "rm -rf /", `x=$(rm -rf /)`: "rm -rf /", `sudo -u root env A=b nice -n 5 rm -rf /`: "rm -rf /",
		`sh -c 'rm -rf /'`: "rm -rf /", `bash -ec "cd /; rm -rf /"`: "rm -rf /", `eval "rm -rf /"`: "rm -rf /", `find . | xargs -n 1 rm -rf /`: "rm -rf /", `\rm -r'f' /`: "rm -rf /",
		`dd if=/dev/zero of=/dev/sda bs=1M`: "dd of=/dev/sda", `mkfs.ext4 -F /dev/sdb1`: "mkfs.ext4 /dev/sdb1", `cat x > /dev/nvme0n1`: "> /dev/nvme0n1",
		`:(){ :|:& };:`: ":() { :|:& }", `b() { b | b & }; b`: "b() { b | b & }", `chmod -R 777 /`: "chmod -R 777 /", `chown -R user:user /`: "chown -R user:user /", `chgrp -Rv x /*`: "chgrp -Rv x /*",
		`timeout -k 1 5 rm -rf /`: "rm -rf /", "rm -rf \\\n /": "rm -rf /", `echo ${v}; rm -rf /`: "rm -rf /", `rm -rf ${v} /`: "rm -rf /", `rm -rf /; [[ x`: "rm -rf /", `rm -rf /; (`: "",
	} {
		_, problems := Parse(command, options)
		var found []string
		for _, p := range problems {
			if p.Kind == Destructive {
				found = append(found, p.Message)
				if p.Warning || p.Suggest == "" || p.Offset < 0 || p.Offset > len(command) {
					t.Errorf("%s: %+v", command, p)
				}
			}
		}
		got := strings.TrimPrefix(strings.Join(found, "; "), "Dangerous command pattern detected: ")
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

func TestWhatOnlyLooksDangerous(t *testing.T) {
	for _, command := range []string{
		`rm -rf /tmp/x`, `rm -rf ./`, `rm -rf /tmp/*`, `rm -rf '/*'`, `rm -rf '~'`, `rm -rf x~`, `echo rm -rf /`, `echo "rm -rf /"`, `# rm -rf /`, `printf '%s' 'sudo rm -rf / now'`, `sudo echo rm -rf /`,
		`rm -f /`, `rm /`, `rm -rf -- "$x/"`, `rm -rf "$dir"/*`, `rm -rf "${HOME:?}/x"`, `rm -rf ~/x`, `grep 'rm -rf /' notes`, `git commit -m 'no rm -rf / please'`, `cat <<'EOF'` + "\nrm -rf /\nEOF",
		`dd if=/dev/zero of=/dev/null`, `dd if=/dev/sda of=disk.img`, `mkfs.ext4 disk.img`, `man mkfs.ext4`, `chmod -R 777 /srv/www`, `chmod 755 /`, `chown -R me /home/me`, `echo > /dev/null`, `echo > /dev/tty`,
		`command -v rm -rf /`, `f() { g | h & }; f`, `f() { f; }`, `rm -rf`, `xargs rm -rf < list`, `docker run x rm -rf /tmp`, `echo a | tee /dev/sda.txt`, `rm -rf ${v}/x`, `rm -rf ${v}/`, `format c:`,
	} {
		_, problems := Parse(command, options)
		for _, p := range problems {
			if p.Kind == Destructive {
				t.Errorf("%s: %s", command, p.Message)
			}
		}
	}
}

func TestValuesThatMakeACommandDangerous(t *testing.T) {
	for _, c := range []struct {
		command, value string
		dangerous      bool
	}{
		{`rm -rf "${v}/"`, "", true},
		{`rm -rf "${v}/"`, "/tmp/x", false},
		{`rm -rf "${v}"/*`, "", true},
		{`rm -rf ${v}`, "/", true},
		{`rm -rf ${v}`, "x /", true},
		{`rm -rf "${v}"`, "x /", false},
		{`rm -rf "${v}"`, "/*", false}, // a file of that name
		{`rm -rf ${v}`, "/*", true},
		{`rm -rf '${v}'/`, "", true},
		{`rm -rf ./${v}`, "", false},
		{`rm ${v} /`, "-rf", true},
		{`${v}`, "rm -rf /", false}, // one word
		{`${v} -rf /`, "rm", true},
		{`echo ${v}`, "rm -rf /", false},
		{`dd of="${v}" if=x`, "/dev/sda", true},
		{`echo x > "${v}"`, "/dev/sda", true},
		{`chmod -R 700 "${v}/"`, "", true},
	} {
		script, problems := Parse(c.command, options)
		if p := script.Danger([]string{c.value}); (p != nil) != c.dangerous || p != nil && !strings.Contains(p.Suggest, "${v}") {
			t.Errorf("%s with %q: %+v, %v", c.command, c.value, p, problems)
		}
		unsafe := options
		unsafe.Unsafe = true
		script, _ = Parse(`rm -rf ${v}/`, unsafe)
		if script.Danger([]string{"a"}) != nil || script.Danger([]string{""}) == nil {
			t.Error("what is pasted is not looked at")
		}
	}
}
