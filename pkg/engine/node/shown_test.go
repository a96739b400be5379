package node

import "testing"

func TestACommandWithItsValues(t *testing.T) {
	t.Parallel()
	values := map[string]string{"${a}": "two words; rm", "${b}": `say "$HOME"`, "${n}": "7", "${none}": "", "${q}": "it's"}
	for command, want := range map[string]string{
		"deploy ${n} --to ${a}":   "deploy 7 --to two 'words;' rm",
		`echo "${a}"`:             `echo "two words; rm"`,
		`echo "${b}" ${q}`:        `echo "say \"\$HOME\"" 'it'\''s'`,
		`echo \"${a}`:             `echo \"two 'words;' rm`,
		`echo 'x "' ${a} "${a}"`:  `echo 'x "' two 'words;' rm "two words; rm"`,
		`printf '%s' "${none}"x`:  `printf '%s' ""x`,
		"echo ${none} $${a} done": "echo  ${a} done",
	} {
		if got := filled(command, values, false); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
	if got := filled("echo ${a}", values, true); got != "echo two words; rm" {
		t.Errorf("pasted: %s", got)
	}
}
