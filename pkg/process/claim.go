package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Claim is a file, named by a mark, that is locked as long as the program that ends the processes with the mark is alive.
// The kernel releases the lock when the program is killed. Then EndAbandoned ends the processes in its place.
type Claim struct{ file *os.File }

// NewClaim creates and locks the file for a mark, NAME=VALUE, in a folder, which it creates too. Call it before the first
// process with the mark is started. NAME must begin with PFLOW_, and VALUE must be unique among all programs of the system.
func NewClaim(dir, mark string) (*Claim, error) {
	if !isClaim(mark) {
		return nil, fmt.Errorf("%q cannot mark processes", mark)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for {
		f, err := os.OpenFile(filepath.Join(dir, mark), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err = lockFile(f, 0); err == nil {
			var id string
			id, err = claimID(f)
			if errors.Is(err, fs.ErrNotExist) { // EndAbandoned has found it before it was locked
				_ = f.Close()
				continue
			}
			if err == nil {
				_, err = f.WriteString(id)
			}
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return &Claim{f}, nil
	}
}

// Release removes the file. Call it when no process with the mark is left.
func (c *Claim) Release() {
	_ = os.Remove(c.file.Name())
	_ = c.file.Close()
}

// maxClaims is the most claims that EndAbandoned takes over at once: each needs a file descriptor.
const maxClaims = 100

// EndAbandoned ends the processes that have a mark whose claim, in the folder, belongs to a program that was killed: SIGTERM,
// the grace, SIGKILL. It costs one read of the folder if there is no such claim. Claims of live programs are left alone, and
// so are those that another call of EndAbandoned, in any process, is working on. A claim in a copied folder has no effect:
// its program may be alive and hold the original.
//
// The processes end beside the caller. wait returns when they have ended, or when ctx is done: the claims stay until then,
// so if this program ends first, the next call goes on with them.
func EndAbandoned(dir string, grace time.Duration) (wait func(ctx context.Context)) {
	claims := abandoned(dir)
	if len(claims) == 0 {
		return func(context.Context) {}
	}
	ended := make(chan struct{})
	go func() {
		marks := map[string]bool{}
		for _, c := range claims {
			marks[filepath.Base(c.file.Name())] = true
		}
		takeDown(time.Now().Add(grace), func() ([]procInfo, bool) { return markedAny(table(), marks), true }, nil)
		for _, c := range claims {
			c.Release()
		}
		close(ended)
	}()
	return func(ctx context.Context) {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
}

// abandoned takes over the claims in a folder that belong to killed programs.
func abandoned(dir string) (claims []*Claim) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if len(claims) == maxClaims {
			break
		}
		if !isClaim(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		f, ok := takeOver(filepath.Join(dir, e.Name()))
		switch c := (&Claim{f}); {
		case f == nil:
		case ok:
			claims = append(claims, c)
		default:
			c.Release()
		}
	}
	return claims
}

// takeOver locks the claim of a program that is no longer alive. It returns nil if the program is alive. abandoned is false
// if the program cannot have started a process with the mark, or if the claim is a copy of another.
func takeOver(path string) (f *os.File, abandoned bool) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, false
	}
	if lockFile(f, unix.LOCK_NB) != nil {
		_ = f.Close()
		return nil, false
	}
	id, err := claimID(f)
	if err != nil { // another call has removed it
		_ = f.Close()
		return nil, false
	}
	content := make([]byte, len(id)+1)
	n, _ := f.ReadAt(content, 0)
	return f, string(content[:n]) == id
}

// claimID returns the content of a claim: what identifies its file among all files of the system. The error is
// fs.ErrNotExist if the file is no longer in its folder.
func claimID(f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	now, err := os.Stat(f.Name())
	if err != nil {
		return "", err
	}
	if !os.SameFile(info, now) {
		return "", fs.ErrNotExist
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errors.ErrUnsupported
	}
	return fmt.Sprintf("%d %d\n", stat.Dev, stat.Ino), nil
}

// isClaim reports whether a name is a mark that only one program can have given: it begins with PFLOW_ and has a long value.
func isClaim(name string) bool {
	const shortest = 16
	variable, value, _ := strings.Cut(name, "=")
	return strings.HasPrefix(variable, "PFLOW_") && len(value) >= shortest && !strings.ContainsAny(value, "/\x00")
}

// lockFile locks a file exclusively with flock(2), whatever signals arrive.
func lockFile(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
