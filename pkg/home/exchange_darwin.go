package home

import "golang.org/x/sys/unix"

// exchange gives two paths in one folder each other's names in one step.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }

// moveToFree renames a path to one that does not exist, in one step.
func moveToFree(from, to string) error { return unix.RenamexNp(from, to, unix.RENAME_EXCL) }
