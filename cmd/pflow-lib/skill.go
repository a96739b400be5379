package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/google/renameio/v2"

	"github.com/pflow-suite/pflow/pkg/fault"
	"github.com/pflow-suite/pflow/pkg/rawjson"
	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

type skillCommand struct {
	Output string `short:"o" help:"Write the skill to DIR/pflow/SKILL.md, such as with -o ~/.claude/skills." placeholder:"DIR" complete:"dir"`
	Force  bool   `help:"Replace a file that was changed by hand."`
}

// Help returns more text for --help.
func (skillCommand) Help() string {
	return `A skill (agentskills.io) is a file that an agent reads when a task calls for it: here the guide, with a description of when to use it.
Without -o it is printed. A file of another version is replaced; one that was changed by hand only with --force.`
}

// skillName is the name of the skill and of its folder, which must be the same.
const skillName = "pflow"

// skillDescription tells an agent when to read the skill. The format allows 1024 characters.
const skillDescription = "Write, check, run, resume and keep pflow workflows: JSON or Markdown files of steps (shell commands, HTTP requests, code, files, " +
	"language models, agents, MCP tools) that run the same way every time. Use it when a task has several steps that are to be repeated, run at the same " +
	"time or resumed after a failure, when a file ends in .pflow.md, or when the user mentions pflow or a workflow."

// skillWritten is the result with -o. Changed is false if the file was there already.
type skillWritten struct {
	Success bool   `json:"success"`
	Path    string `json:"path"`
	Changed bool   `json:"changed"`
}

// Run prints the skill or writes it.
func (c *skillCommand) Run(app *cli.App) error {
	text := skill()
	if c.Output == "" {
		_, err := app.Stdout.Write(text)
		return err
	}
	path := filepath.Join(c.Output, skillName, "SKILL.md")
	if end, err := filepath.EvalSymlinks(path); err == nil {
		path = end // a link stays one
	}
	old, err := os.ReadFile(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.Usage, "Cannot read %s: %v", path, fault.Reason(err))
	case err == nil && !c.Force && !isUnchangedSkill(old):
		return fault.New(fault.AlreadyExists, "%s is not as pflow-lib skill has written it; nothing was changed", path).
			Suggest("Keep your changes elsewhere, and use --force to replace it").Then(fault.Command("See the differences", "pflow-lib skill | diff %s -", path))
	}
	done := skillWritten{Success: true, Path: path, Changed: !bytes.Equal(old, text)}
	if done.Changed {
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = renameio.WriteFile(path, text, 0o644, renameio.WithTempDir(filepath.Dir(path)))
		}
		if err != nil {
			return fault.New(fault.Usage, "Cannot write %s: %v", path, fault.Reason(err))
		}
	}
	return app.Document(done, func(w io.Writer) { _, _ = fmt.Fprintln(w, done.Path) })
}

// skill returns the file of the skill. It has a digest of itself, so that a change by hand can be seen.
func skill() []byte {
	text := fmt.Appendf(nil, "---\nname: %s\ndescription: %s\nlicense: Apache-2.0\nmetadata:\n  version: \"%s\"\n  digest: \"\"\n---\n\n%s",
		skillName, rawjson.Quote(skillDescription), cli.Version, guide)
	return bytes.Replace(text, []byte(`digest: ""`), []byte(`digest: "`+skillDigest(text)+`"`), 1)
}

// isUnchangedSkill reports whether a file is as some version of skill has returned it.
func isUnchangedSkill(text []byte) bool {
	at := regexp.MustCompile(`(?m)^  digest: "([0-9a-f]+)"$`).FindSubmatchIndex(text)
	if at == nil {
		return false
	}
	digest := string(text[at[2]:at[3]])
	return skillDigest(append(append([]byte{}, text[:at[2]]...), text[at[3]:]...)) == digest
}

func skillDigest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
