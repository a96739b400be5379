package nodetype

import "encoding/json"

// ReadFile is the read-file node.
type ReadFile struct {
	FilePath     string `json:"file_path" required:"" help:"the file, relative to the run's working directory"`
	Encoding     string `json:"encoding" default:"\"utf-8\"" help:"utf-8, utf-8-sig (without the byte order mark, which utf-8 keeps), latin-1, ascii, utf-16, utf-16-le or utf-16-be"`
	AllowSpecial bool   `json:"allow_special" default:"false" help:"also read a pipe, a socket or a device, which may block and have no end; otherwise the node fails"`
}

// ReadFileOutputs are the outputs of a read-file node.
type ReadFileOutputs struct {
	Content         Binary `json:"content" help:"the text of the file, or base64 if it cannot be decoded as UTF-8"`
	ContentIsBinary bool   `json:"content_is_binary" help:"whether content is base64"`
	FilePath        string `json:"file_path" help:"the file that was read"`
	Error           string `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeReadFile() Type {
	return describe("read-file", "Read a file", ReadFile{}, ReadFileOutputs{})
}

// WriteFile is the write-file node.
type WriteFile struct {
	FilePath        string          `json:"file_path" required:"" help:"the file, relative to the run's working directory; missing directories are created"`
	Content         json.RawMessage `json:"content" required:"" help:"text is written as it is, any other value as JSON"`
	Encoding        string          `json:"encoding" default:"\"utf-8\"" help:"utf-8, utf-8-sig (with a byte order mark), latin-1, ascii, utf-16, utf-16-le or utf-16-be"`
	Append          bool            `json:"append" default:"false" help:"append to the file in one write; otherwise the file is replaced atomically"`
	ContentIsBinary bool            `json:"content_is_binary" default:"false" help:"content is base64; not needed if content is one template whose value is an image, audio or file of an MCP tool"`
}

// WriteFileOutputs are the outputs of a write-file node.
type WriteFileOutputs struct {
	Written  string `json:"written" help:"what was done, as a sentence"`
	FilePath string `json:"file_path" help:"the file that was written"`
	Error    string `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeWriteFile() Type {
	return describe("write-file", "Write a file", WriteFile{}, WriteFileOutputs{})
}

// CopyFile is the copy-file node.
type CopyFile struct {
	SourcePath string `json:"source_path" required:"" help:"the file to copy, relative to the run's working directory"`
	DestPath   string `json:"dest_path" required:"" help:"the path of the copy, relative to the run's working directory; if it is a directory or ends in /, the file keeps its name; missing directories are created"`
	Overwrite  bool   `json:"overwrite" default:"false" help:"replace an existing file; otherwise the node fails"`
}

// CopyFileOutputs are the outputs of a copy-file node.
type CopyFileOutputs struct {
	Copied   string `json:"copied" help:"what was done, as a sentence"`
	FilePath string `json:"file_path" help:"the copy"`
	Error    string `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeCopyFile() Type {
	return describe("copy-file", "Copy a file with its permissions and modification time", CopyFile{}, CopyFileOutputs{})
}

// MoveFile is the move-file node.
type MoveFile struct {
	SourcePath string `json:"source_path" required:"" help:"the file to move, relative to the run's working directory"`
	DestPath   string `json:"dest_path" required:"" help:"the new path, relative to the run's working directory; if it is a directory or ends in /, the file keeps its name; missing directories are created"`
	Overwrite  bool   `json:"overwrite" default:"false" help:"replace an existing file; otherwise the node fails"`
}

// MoveFileOutputs are the outputs of a move-file node.
type MoveFileOutputs struct {
	Moved    string `json:"moved" help:"what was done, as a sentence"`
	FilePath string `json:"file_path" help:"the new path of the file"`
	Error    string `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeMoveFile() Type {
	return describe("move-file", "Move or rename a file", MoveFile{}, MoveFileOutputs{})
}

// DeleteFile is the delete-file node.
type DeleteFile struct {
	FilePath      string `json:"file_path" required:"" help:"the file, relative to the run's working directory; a missing file counts as deleted, a directory is refused"`
	ConfirmDelete bool   `json:"confirm_delete" default:"false" input:"" help:"must be true; if left out, the workflow's input of this name is used"`
}

// DeleteFileOutputs are the outputs of a delete-file node.
type DeleteFileOutputs struct {
	Deleted  string `json:"deleted" help:"what was done, as a sentence"`
	FilePath string `json:"file_path" help:"the file that was deleted"`
	Error    string `json:"error,omitempty" help:"why the node failed; absent if it did not"`
}

func describeDeleteFile() Type {
	return describe("delete-file", "Delete a file", DeleteFile{}, DeleteFileOutputs{})
}
