package nodetype

import "encoding/json"

// ReadFile is the read-file node.
type ReadFile struct {
	FilePath string `json:"file_path" required:"" help:"the file, relative to the run's working directory"`
	Encoding string `json:"encoding" default:"\"utf-8\"" help:"utf-8, utf-8-sig (without the byte order mark, which utf-8 keeps), latin-1, ascii, utf-16, utf-16-le or utf-16-be"`
}

// ReadFileOutputs is what a read-file node leaves behind.
type ReadFileOutputs struct {
	Content         Binary `json:"content" help:"the text as it stands in the file; of a file that is no UTF-8, base64"`
	ContentIsBinary bool   `json:"content_is_binary" help:"whether content is base64"`
	FilePath        string `json:"file_path" help:"the file that was read"`
	Error           string `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeReadFile() Type {
	return describe("read-file", "Read a file", ReadFile{}, ReadFileOutputs{})
}

// WriteFile is the write-file node.
type WriteFile struct {
	FilePath        string          `json:"file_path" required:"" help:"the file, relative to the run's working directory; missing folders are made"`
	Content         json.RawMessage `json:"content" required:"" help:"text is written as it is, any other value as JSON"`
	Encoding        string          `json:"encoding" default:"\"utf-8\"" help:"utf-8, utf-8-sig (with a byte order mark), latin-1, ascii, utf-16, utf-16-le or utf-16-be"`
	Append          bool            `json:"append" default:"false" help:"add to the file's end, in one write; otherwise the file is replaced in one step"`
	ContentIsBinary bool            `json:"content_is_binary" default:"false" help:"content is base64"`
}

// WriteFileOutputs is what a write-file node leaves behind.
type WriteFileOutputs struct {
	Written  string `json:"written" help:"what was done, in words"`
	FilePath string `json:"file_path" help:"the file that was written"`
	Error    string `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeWriteFile() Type {
	return describe("write-file", "Write a file", WriteFile{}, WriteFileOutputs{})
}

// CopyFile is the copy-file node.
type CopyFile struct {
	SourcePath string `json:"source_path" required:"" help:"the file to copy, relative to the run's working directory"`
	DestPath   string `json:"dest_path" required:"" help:"the copy, relative to the run's working directory; in a folder that is there, or after a / at the end, it keeps its name; missing folders are made"`
	Overwrite  bool   `json:"overwrite" default:"false" help:"replace the file that is there; otherwise it is a failure"`
}

// CopyFileOutputs is what a copy-file node leaves behind.
type CopyFileOutputs struct {
	Copied   string `json:"copied" help:"what was done, in words"`
	FilePath string `json:"file_path" help:"the copy"`
	Error    string `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeCopyFile() Type {
	return describe("copy-file", "Copy a file, with its permissions and its time", CopyFile{}, CopyFileOutputs{})
}

// MoveFile is the move-file node.
type MoveFile struct {
	SourcePath string `json:"source_path" required:"" help:"the file to move, relative to the run's working directory"`
	DestPath   string `json:"dest_path" required:"" help:"where to, relative to the run's working directory; in a folder that is there, or after a / at the end, it keeps its name; missing folders are made"`
	Overwrite  bool   `json:"overwrite" default:"false" help:"replace the file that is there; otherwise it is a failure"`
}

// MoveFileOutputs is what a move-file node leaves behind.
type MoveFileOutputs struct {
	Moved    string `json:"moved" help:"what was done, in words"`
	FilePath string `json:"file_path" help:"where the file is now"`
	Error    string `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeMoveFile() Type {
	return describe("move-file", "Move or rename a file", MoveFile{}, MoveFileOutputs{})
}

// DeleteFile is the delete-file node.
type DeleteFile struct {
	FilePath      string `json:"file_path" required:"" help:"the file, relative to the run's working directory; one that is not there is deleted already, a folder is refused"`
	ConfirmDelete bool   `json:"confirm_delete" default:"false" input:"" help:"must be true; a workflow's input of this name will do"`
}

// DeleteFileOutputs is what a delete-file node leaves behind.
type DeleteFileOutputs struct {
	Deleted  string `json:"deleted" help:"what was done, in words"`
	FilePath string `json:"file_path" help:"the file that was deleted"`
	Error    string `json:"error,omitempty" help:"why it failed; absent when it did not"`
}

func describeDeleteFile() Type {
	return describe("delete-file", "Delete a file", DeleteFile{}, DeleteFileOutputs{})
}
