package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/home"
)

// placesFolder has the locks that limit how many runs of a home are executed at the same time. Each run that is executed holds
// the lock of a numbered file, its place. The run that is next in line holds turnFile, and the others wait for that. The kernel
// releases the locks of a process however it ends.
const (
	placesFolder = ".places"
	turnFile     = "turn"
)

const (
	// turnGrace is how long a run may wait for its turn before it counts as queued: another one may just be taking a place.
	turnGrace = 20 * time.Millisecond
	// maxPlacePause is the longest time between two looks of the first run in line for a free place.
	maxPlacePause = 100 * time.Millisecond
)

// TakePlace waits until fewer than limit runs have a place, and takes one, which the process has until it calls release or ends.
// Runs get their places in the order in which they ask for them, as far as the kernel's queue for a lock keeps it. limit is
// called again while the run waits, so it may change; 0 or less is no limit, and then the run needs no place. queued is called
// once, before a run waits; an error of it ends the wait. If ctx ends first, the error is its cause.
func TakePlace(ctx context.Context, h *home.Home, limit func() int, queued func() error) (release func(), err error) {
	dir, err := h.Make("runs", placesFolder)
	if err != nil {
		return nil, err
	}
	once := queued
	queued = func() error {
		announce := once
		once = func() error { return nil }
		return announce()
	}
	turn, err := takeTurn(ctx, h.Path("runs", placesFolder, turnFile), queued)
	if err != nil {
		return nil, err
	}
	defer func() { _ = turn.Close() }()
	for pause := 2 * time.Millisecond; ; pause = min(pause*3/2, maxPlacePause) {
		most := limit()
		if most <= 0 {
			return func() {}, nil
		}
		place, err := freePlace(dir, most)
		if err != nil {
			return nil, storageFault("take a place for the run", err)
		}
		if place != nil {
			return func() { _ = place.Close() }, nil
		}
		if err := queued(); err != nil {
			return nil, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// takeTurn waits in the kernel for the lock of the run that is next in line.
func takeTurn(ctx context.Context, path string, queued func() error) (*flock.Flock, error) {
	turn := flock.New(path, flock.SetPermissions(0o600))
	if ok, err := turn.TryLock(); ok {
		return turn, nil
	} else if err != nil {
		return nil, storageFault("take a place for the run", err)
	}
	taken := make(chan error, 1)
	go func() {
		err := turn.Lock()
		for errors.Is(err, unix.EINTR) {
			err = turn.Lock()
		}
		taken <- err
	}()
	abandon := func() { // the call cannot be cancelled: what it gets later is released then
		go func() {
			<-taken
			_ = turn.Close()
		}()
	}
	grace := time.NewTimer(turnGrace)
	defer grace.Stop()
	for {
		select {
		case err := <-taken:
			if err != nil {
				return nil, storageFault("take a place for the run", err)
			}
			return turn, nil
		case <-grace.C:
			if err := queued(); err != nil {
				abandon()
				return nil, err
			}
		case <-ctx.Done():
			abandon()
			return nil, context.Cause(ctx)
		}
	}
}

// freePlace takes a place if fewer than most are taken, else it returns nil. It counts the places of a larger limit of before
// too. The caller has the turn, so the number of places that are taken cannot grow meanwhile.
func freePlace(dir string, most int) (*flock.Flock, error) {
	var free *flock.Flock
	release := func() {
		if free != nil {
			_ = free.Close()
		}
	}
	for taken, n := 0, 0; taken < most; n++ {
		path := filepath.Join(dir, strconv.Itoa(n))
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && free != nil {
			return free, nil
		}
		place := flock.New(path, flock.SetPermissions(0o600))
		ok, err := place.TryLock()
		switch {
		case err != nil:
			release()
			return nil, err
		case !ok:
			taken++
		case free == nil:
			free = place
		default:
			_ = place.Close()
		}
	}
	release()
	return nil, nil
}
