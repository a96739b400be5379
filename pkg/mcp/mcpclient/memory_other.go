//go:build !linux

package mcpclient

// residentMemory returns false: the memory is not known without starting a program, so it is not watched.
func residentMemory(int) (int64, bool) { return 0, false }
