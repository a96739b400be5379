package proc

import "os"

// startOf is when a process was started, in hundredths of a second of the system's uptime; false for one that has ended.
func startOf(pid int) (string, bool) {
	p, ok := read(pid)
	return p.started, ok && !p.ended
}

// idSpace tells one start of the system, and one namespace of process ids, from others.
func idSpace() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return string(boot) + namespace
}
