package workflow

import (
	"fmt"
	"strings"
)

// comment skips the lines from <!-- to -->.
func (o *outliner) comment(column int) {
	open := o.at
	for !strings.Contains(o.text[o.at:o.stop], "-->") {
		if !o.line() {
			o.at = open
			o.fault(column, "Close it with -->", "The comment is never closed")
			o.lost = true
			return
		}
	}
}

// fenced reads a code block up to the fence that closes it.
func (o *outliner) fenced(rest string, column int, fence string) {
	b := block{piece: piece{from: o.next, indent: column}, at: o.at + column, tag: strings.TrimSpace(rest[len(fence):])}
	if words := strings.Fields(b.tag); len(words) > 0 {
		b.language, b.name = strings.ToLower(words[0]), words[len(words)-1]
		b.at += strings.LastIndex(rest, b.name)
	}
	open := o.at
	for {
		if !o.line() {
			o.at = open
			o.fault(column, "Close it with a line "+fence+o.orNested(b), "Unclosed code block")
			o.lost = true
			return
		}
		line, at := o.rest()
		if len(line) >= len(fence) && strings.Trim(line, fence[:1]) == "" && at < column+4 {
			break
		}
	}
	if b.to = o.at; o.headless() && (b.language == "yaml" || b.language == "yml") {
		o.at = open
		o.nameless(column)
	} else if o.entity != nil {
		o.at = open
		o.tagged(o.entity, b, column)
	}
}

// tagged adds a code block to its entity.
func (o *outliner) tagged(e *entity, b block, column int) {
	e.prose.parameter()
	switch strings.ToLower(b.tag) {
	case "":
		o.untagged(e, column)
		return
	case "yaml", "yml", "json", "sh", "bash", "shell", "python":
		name := "command"
		if b.isData() {
			name = "batch"
		}
		o.fault(column, fmt.Sprintf("Add the name of the parameter, such as ```%s %s", b.tag, name), "The tag %q names a language but not a parameter", b.tag)
		e.broken = true
		return
	}
	e.blocks = append(e.blocks, b)
}

// untagged reports a code block without a tag. After a block with a tag it is probably the end of that block, which contained
// a fence. Then the rest of the file cannot be interpreted.
func (o *outliner) untagged(e *entity, column int) {
	nested := o.orNested(block{})
	o.fault(column, "Name the parameter whose value it is: ```shell command, ```prompt, ```yaml batch"+nested, "Code block has no tag")
	o.lost = nested != ""
	e.broken = true
}

// orNested suggests that a block without a tag is the end of the block before it, which contains a fence.
func (o *outliner) orNested(b block) string {
	if b.tag != "" || o.entity == nil || len(o.entity.blocks) == 0 {
		return ""
	}
	last := o.entity.blocks[len(o.entity.blocks)-1]
	line, _ := o.d.text.place(last.at)
	return fmt.Sprintf("; or, if it ends the block of line %d, which contains ```, open and close that block with four: ````%s", line, last.tag)
}

// isData reports whether a block is YAML or JSON and not text.
func (b block) isData() bool {
	return b.language == "yaml" || b.language == "yml" || b.language == "json"
}
