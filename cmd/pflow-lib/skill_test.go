package main

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/pflow-suite/pflow/pkg/terminal/cli"
)

// TestSkillFormat holds the skill to the format of agentskills.io: the head is YAML with a name and a description of limited length.
func TestSkillFormat(t *testing.T) {
	head, body, ok := strings.Cut(strings.TrimPrefix(string(skill()), "---\n"), "\n---\n\n")
	if !ok {
		t.Fatalf("there is no head: %.80s", skill())
	}
	fields := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if text, err := strconv.Unquote(value); err == nil { // which YAML reads the same way
			value = text
		}
		fields[key] = value
	}
	if fields["name"] != "pflow" || fields["description"] != skillDescription || len(skillDescription) > 1024 || fields["license"] == "" || fields["version"] != cli.Version {
		t.Errorf("%v", fields)
	}
	if body != string(guide) {
		t.Error("the body is not the guide")
	}
}

// TestChangesOfASkill: a change by hand is seen wherever it is; a file of another version is not a change.
func TestChangesOfASkill(t *testing.T) {
	text := skill()
	if !isUnchangedSkill(text) {
		t.Error("what skill returns counts as changed")
	}
	for at := 0; at < len(text); at += 97 {
		changed := bytes.Clone(text)
		changed[at] ^= 1
		if isUnchangedSkill(changed) {
			t.Errorf("a change of byte %d is not seen", at)
		}
	}
	for _, changed := range [][]byte{nil, []byte("# Mine"), append(bytes.Clone(text), '\n'), bytes.TrimSpace(text)} {
		if isUnchangedSkill(changed) {
			t.Errorf("%.30q… counts as written", changed)
		}
	}
	other := bytes.Replace(text, []byte(`  digest: "`), []byte("  more: \"x\"\n  digest: \""), 1)
	bare := bytes.Replace(other, other[bytes.Index(other, []byte(`digest: "`))+9:][:64], nil, 1)
	other = bytes.Replace(bare, []byte(`digest: "`), []byte(`digest: "`+skillDigest(bare)), 1)
	if !isUnchangedSkill(other) {
		t.Error("a file of another version counts as changed")
	}
}
