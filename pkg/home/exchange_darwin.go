package home

import "golang.org/x/sys/unix"

// exchange gives two paths in one folder each other's names in one step.
func exchange(a, b string) error { return unix.RenamexNp(a, b, unix.RENAME_SWAP) }
