package process

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
)

// Identity names a process so that any other, at any time and on any machine, can tell whether it is still alive. All three
// parts are made of lower-case letters, digits and "-", so that they can stand in a name.
type Identity struct {
	// Machine is the host's name and what tells its process ids from others': the start of the system and, on Linux, the
	// namespaces of ids and of time, for containers count both anew.
	Machine string
	PID     int
	// Started is when the process was started, as the system counts it: ids come again, with another start. It is "0" where
	// the system does not tell.
	Started string
}

// Self returns the Identity of this process.
func Self() Identity {
	start, _ := startOf(os.Getpid())
	if start == "" {
		start = "0"
	}
	return Identity{Machine: machine(), PID: os.Getpid(), Started: start}
}

// Alive says whether the process is there. It is known only of processes of this machine, as long as the system is up, and
// not of those that the system hides from this user.
func (o Identity) Alive() (alive, known bool) {
	if o.Machine != machine() || o.Started == "0" {
		return false, false
	}
	now, there := startOf(o.PID)
	if there && now == "" {
		return false, false
	}
	return there && now == o.Started, true
}

// machine is the Machine of this process.
func machine() string {
	host, _ := os.Hostname()
	sum := sha256.Sum256([]byte(host + "\n" + idSpace()))
	return plainHost(host) + "-" + hex.EncodeToString(sum[:6])
}

// plainHost is the beginning of a host's name, made of what may stand in an Identity.
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
