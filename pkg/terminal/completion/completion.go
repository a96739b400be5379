// Package completion lets a shell complete the command lines of the suite's programs.
//
// A program prints a script for the shell (Script). When a word is completed, the script runs the program with Variable set to the
// shell's name and the command line as arguments. Parse takes these arguments apart, the program finds an Answer, and Print prints it in
// the form that the script expects.
package completion

import (
	"slices"
	"strings"
	"unicode"
)

// Variable is the environment variable that makes a program complete a command line instead of running it. Its value is the name of a
// shell, or Values.
const Variable = "PFLOW_COMPLETE"

// Values is the value of Variable with which one program of the suite asks another for values that the other one knows: the arguments
// are the kind of the values and what they depend on, and the answer is one Candidate as JSON a line.
const Values = "values"

// Line is a command line up to the word that is completed. Its words have no quotes.
type Line struct {
	// Words are the arguments before the current word.
	Words []string
	// Current is the word to complete, up to the cursor.
	Current string

	bash bashWord
}

// Candidate is a word that a person may mean.
type Candidate struct {
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
	// Open is true if the word goes on after the value, as that of KEY=VALUE does after KEY=. Then no blank follows.
	Open bool `json:"open,omitempty"`
	// Next are candidates for what follows an open value.
	Next []string `json:"next,omitempty"`
}

// Files are the files that an Answer has.
type Files int

// An Answer has no files, all files, or only folders.
const (
	NoFiles Files = iota
	AllFiles
	OnlyFolders
)

// Answer is what the current word may be.
type Answer struct {
	// Prefix is the beginning of the word that the candidates and files do not repeat, such as --inputs= or KEY=@.
	Prefix     string
	Candidates []Candidate
	Files      Files
}

// settle leaves out candidates that a shell cannot show, and lets a word that begins no candidate be a file's name.
func (a *Answer) settle(current string) {
	a.Candidates = slices.DeleteFunc(a.Candidates, func(c Candidate) bool { return strings.ContainsFunc(c.Value, unicode.IsControl) })
	rest := strings.TrimPrefix(current, a.Prefix)
	begins := func(c Candidate) bool { return strings.HasPrefix(c.Value, rest) }
	if a.Files == NoFiles && !slices.ContainsFunc(a.Candidates, begins) && !strings.HasPrefix(rest, "-") {
		a.Files = AllFiles
	}
}
