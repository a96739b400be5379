package registry

import (
	"encoding/binary"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// stamp tells one state of a file from another, as far as the file system can: a change of the content, also one of the
// same size, changes a time of it, unless it comes within the same tick of the clock.
type stamp struct {
	size             int64
	modified, status int64 // times in nanoseconds; the second is that of the last change to the file's record, which nobody can set
	device, inode    uint64
}

const stampSize = 5 * 8

// tick is the coarsest step in which a file system keeps times: two seconds, on FAT.
const tick = 2 * time.Second

// stampOf is the state of an open file.
func stampOf(f *os.File) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return stamp{}, fault.New(fault.Internal, "Cannot read %s in the home folder: %v", fileName, fault.Reason(err))
	}
	return stamp{size: st.Size, modified: st.Mtim.Nano(), status: st.Ctim.Nano(), device: uint64(st.Dev), inode: st.Ino}, nil
}

// settledAt says whether a change that comes after a time would show in the stamp.
func (s stamp) settledAt(now time.Time) bool {
	return max(s.modified, s.status) < now.Add(-tick).UnixNano()
}

func (s stamp) appendTo(out []byte) []byte {
	for _, n := range []uint64{uint64(s.size), uint64(s.modified), uint64(s.status), s.device, s.inode} {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	return out
}

func parseStamp(data []byte) stamp {
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(data[8*i:]) }
	return stamp{size: int64(n(0)), modified: int64(n(1)), status: int64(n(2)), device: n(3), inode: n(4)}
}
