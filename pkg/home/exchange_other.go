//go:build !linux && !darwin

package home

import "errors"

// exchange gives two paths in one folder each other's names in one step.
func exchange(string, string) error { return errors.ErrUnsupported }

// moveToFree renames a path to one that does not exist, in one step.
func moveToFree(string, string) error { return errors.ErrUnsupported }
