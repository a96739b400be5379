package completion

import (
	"os"
	"path/filepath"
	"strings"
)

// maxFiles is the most names of files that an answer lists.
const maxFiles = 5000

// files returns the paths of the files that begin with a text, each with a slash at its end if it is a folder. A leading ~/ stands for
// the given home. Files whose names begin with a dot are listed only if the text has that dot.
func files(text, home string, which Files) (list []Candidate) {
	folder, name := "", text
	if i := strings.LastIndexByte(text, '/'); i >= 0 {
		folder, name = text[:i+1], text[i+1:]
	}
	dir := folder
	if rest, ok := strings.CutPrefix(folder, "~/"); ok && home != "" {
		dir = filepath.Join(home, rest)
	}
	if dir == "" {
		dir = "."
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), name) || strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".") {
			continue
		}
		isFolder := e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(dir, e.Name()))
			isFolder = err == nil && info.IsDir()
		}
		switch {
		case isFolder:
			list = append(list, Candidate{Value: folder + e.Name() + "/", Open: true})
		case which == AllFiles:
			list = append(list, Candidate{Value: folder + e.Name()})
		}
		if len(list) == maxFiles {
			break
		}
	}
	return list
}
