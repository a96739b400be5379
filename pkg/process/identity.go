package process

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
)

// Identity names a process so that any other process, at any time and on any machine, can find out whether it is still
// alive. All three fields consist of lower-case letters, digits and "-", so that they can be part of a file name.
type Identity struct {
	// Machine is the host's name and a digest of what makes its pids unique: the boot and, on Linux, the pid and time
	// namespaces, because each container counts anew.
	Machine string
	PID     int
	// Started is the time at which the process was started, in the system's unit: a pid is reused, but with another start
	// time. It is "0" where the system does not provide it.
	Started string
}

// Self returns the Identity of this process.
func Self() Identity {
	start, _ := startTime(os.Getpid())
	if start == "" {
		start = "0"
	}
	return Identity{Machine: machine(), PID: os.Getpid(), Started: start}
}

// Alive reports whether the process still runs. The answer is known only for processes of this machine since its last boot,
// and not for processes that the system hides from this user.
func (o Identity) Alive() (alive, known bool) {
	if o.Machine != machine() || o.Started == "0" {
		return false, false
	}
	now, there := startTime(o.PID)
	if there && now == "" {
		return false, false
	}
	return there && now == o.Started, true
}

// machine returns the Machine of this process.
func machine() string {
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(host + "\n" + idSpace()))
	return plainHost(host) + "-" + hex.EncodeToString(sum[:6])
}

// plainHost returns the beginning of a host's name, with only the characters that an Identity may contain.
func plainHost(host string) string {
	const most = 24
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, host)
	if plain == "" {
		plain = "host"
	}
	return plain[:min(len(plain), most)]
}
