package search

import "strings"

// manner is how a word of a query is written.
type manner struct {
	// value is true if it is a part of a value that the query mentions: a text in quotation marks, the name of a file, a number.
	value bool
	// after is true if it follows a preposition.
	after bool
}

// scanQuery calls each for the words of a query, as scan does. Before the words of a value it calls each for what has such a form:
// with "file" for "notes.txt". A query of a single value may be a name, and is scanned as it is. If the function returns false, scanQuery ends.
func scanQuery(query string, each func(whole string, parts []string, as manner) bool) {
	query = strings.TrimSpace(query)
	marks, seen, goOn := strings.Count(query, `"`), 0, true
	if marks == 2 && query[0] == '"' && query[len(query)-1] == '"' {
		marks = 0 // a query that is quoted as a whole is no value
	}
	for field := range strings.FieldsSeq(query) {
		as := manner{value: seen < marks && seen%2 == 1 || seen+1 < marks && field[0] == '"'}
		seen += strings.Count(field, `"`)
		if form, ok := formOf(field); ok && len(field) < len(query) {
			as.value = true
			for word := range strings.FieldsSeq(form) {
				goOn = goOn && each(word, []string{word}, manner{})
			}
		}
		if goOn {
			scan(field, func(whole string, parts []string) bool {
				goOn = each(whole, parts, as)
				return goOn
			})
		}
		if !goOn {
			return
		}
	}
}

// formOf returns the words for what has the form of a text, such as the name of a file, the address of a web page, or a time, and
// whether the text has such a form. A number has one, but there is no word for it.
func formOf(field string) (words string, ok bool) {
	field = strings.TrimRight(strings.Trim(field, `"'()[]{},;!?`+"`"), ".:")
	plain := true
	for i := range len(field) {
		c := field[i] | 0x20
		plain = plain && c >= 'a' && c <= 'z'
	}
	switch {
	case plain:
		return "", false
	case strings.Contains(field, "://") || strings.HasPrefix(field, "www."):
		return "url", true
	case field[0] == '#' && len(field) > 1 && !digits(field[1:]):
		return "channel", true
	case field[0] == '@' && len(field) > 1:
		return "user", true
	case strings.IndexByte(field, '@') > 0 && strings.Contains(field, "."):
		return "email", true
	case strings.ContainsAny(field, "*?") && strings.ContainsAny(field, "./"):
		return "pattern file", true
	}
	if i := strings.LastIndexByte(field, '.'); i >= 0 && i < len(field)-1 {
		switch extension := strings.ToLower(field[i+1:]); {
		case digits(extension):
		case isMedia(extension):
			return "media file", true
		case i > 0 && isDomain(extension):
			return "url", true
		case isExtension(extension):
			return "file", true
		}
	}
	switch {
	case field[0] == '/' && len(field) > 1, strings.HasPrefix(field, "./"), strings.HasPrefix(field, "~/"), strings.HasPrefix(field, "../"):
		return "path file", true
	case isTime(field):
		return "time", true
	case isSize(field):
		return "dimensions", true
	case isHash(field):
		return "commit", true
	case digits(field):
		return "", true
	}
	return "", false
}

func digits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// isTime reports whether a text is a time of day, such as 9:00 or 3pm.
func isTime(text string) bool {
	text = strings.ToLower(text)
	hour, clock := strings.CutSuffix(text, "pm")
	if !clock {
		hour, clock = strings.CutSuffix(text, "am")
	}
	h, m, colon := strings.Cut(hour, ":")
	return (clock || colon && len(m) == 2) && len(h) > 0 && len(h) <= 2 && digits(h) && digits(m)
}

// isSize reports whether a text is a width and a height, such as 800x600.
func isSize(text string) bool {
	w, h, ok := strings.Cut(strings.ToLower(text), "x")
	return ok && w != "" && h != "" && digits(w) && digits(h)
}

// isHash reports whether a text looks like the hash of a commit.
func isHash(text string) bool {
	return len(text) >= 6 && len(text) <= 40 && strings.Trim(text, "0123456789abcdef") == "" && strings.ContainsAny(text, "0123456789") && strings.ContainsAny(text, "abcdef")
}

func isMedia(extension string) bool {
	switch extension {
	case "png", "jpg", "jpeg", "gif", "svg", "webp", "bmp", "ico", "tiff", "mp3", "wav", "ogg", "flac", "m4a", "mp4", "mov", "avi", "mkv", "webm":
		return true
	}
	return false
}

func isDomain(extension string) bool {
	switch extension {
	case "com", "org", "net", "io", "dev", "app", "site", "edu", "gov", "info", "de", "uk", "fr", "eu", "ch", "nl", "ai", "co":
		return true
	}
	return false
}

// isExtension reports whether a text is a usual ending of file names.
func isExtension(text string) bool {
	switch text {
	case "txt", "md", "markdown", "rst", "log", "csv", "tsv", "json", "ndjson", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "conf", "env", "xml", "html", "htm", "css",
		"js", "mjs", "ts", "tsx", "jsx", "py", "go", "rs", "rb", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs", "php", "swift", "sh", "bash", "ps1", "bat", "sql", "lock",
		"pdf", "doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "ppt", "pptx", "zip", "tar", "gz", "tgz", "7z", "exe", "bin", "bak", "tmp", "db", "sqlite", "ipynb", "tex", "eml", "ics":
		return true
	}
	return false
}
