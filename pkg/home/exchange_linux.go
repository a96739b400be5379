package home

import "golang.org/x/sys/unix"

// exchange gives two paths in one folder each other's names in one step.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// moveToFree renames a path to one that does not exist, in one step.
func moveToFree(from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}
