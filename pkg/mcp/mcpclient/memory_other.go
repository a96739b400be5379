//go:build !linux

package mcpclient

// residentMemory cannot be told here without starting a program for it, so memory is not watched.
func residentMemory(int) (int64, bool) { return 0, false }
