package suite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// hungMount mounts a file system with files and a folder dir, whose content is never read to an end: what asks for it gets no answer, and neither
// does a request to interrupt it. What waits for it cannot be ended by a signal, not by SIGKILL either, before the end of the test.
func hungMount(t *testing.T) (dir string) {
	t.Helper()
	fuse, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("this machine has no FUSE: %v", err)
	}
	dir = t.TempDir()
	if err := unix.Mount("hung", dir, "fuse", 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fuse)); err != nil {
		_ = unix.Close(fuse)
		t.Skipf("only root may mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
			t.Errorf("the file system is still mounted: %v", err)
		}
		_ = unix.Close(fuse)
	})
	go func() {
		request := make([]byte, 1<<20)
		for {
			n, err := unix.Read(fuse, request)
			if err != nil {
				return // it is unmounted
			}
			if reply := answerFUSE(request[:n]); reply != nil {
				_, _ = unix.Write(fuse, reply)
			}
		}
	}()
	return dir
}

// answerFUSE returns the reply to a request of the kernel (include/uapi/linux/fuse.h), or nil for none.
func answerFUSE(request []byte) []byte {
	const lookup, forget, getattr, open, read, initialize, opendir, readdir, interrupt, batchForget, readdirPlus = 1, 2, 3, 14, 15, 26, 27, 28, 36, 42, 44
	var failure int32
	var body bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&body, binary.NativeEndian, v)
		}
	}
	attributes := func(inode uint64) {
		mode := uint32(syscall.S_IFREG | 0o644)
		if inode != 2 {
			mode = syscall.S_IFDIR | 0o755
		}
		put(inode, uint64(100), uint64(1), [3]uint64{}, [3]uint32{}, mode, uint32(1), [3]uint32{}, uint32(4096), uint32(0))
	}
	inode := binary.NativeEndian.Uint64(request[16:])
	switch binary.NativeEndian.Uint32(request[4:]) {
	case initialize:
		put(uint32(7), uint32(31), uint32(1<<16), uint32(0), uint16(12), uint16(10), uint32(1<<17), uint32(1), uint16(32), [34]byte{})
	case lookup:
		inode = 2
		if bytes.HasPrefix(request[40:], []byte("dir\x00")) {
			inode = 3
		}
		put(inode, [4]uint64{})
		attributes(inode)
	case getattr:
		put(uint64(0), uint64(0))
		attributes(inode)
	case open, opendir:
		put(uint64(1), uint64(1))
	case read, readdir, readdirPlus, interrupt, forget, batchForget:
		return nil
	default: // polling for example: while epoll_ctl waits, nothing else runs in a Go program with few processors
		failure = -int32(unix.ENOSYS)
	}
	head := binary.NativeEndian.AppendUint32(nil, uint32(16+body.Len()))
	head = binary.NativeEndian.AppendUint32(head, uint32(failure))
	return append(append(head, request[8:16]...), body.Bytes()...)
}

// A file system that answers nothing, and whose requests the system cannot interrupt, holds up neither the first signal nor the time limit of a
// node. The process itself stays until the file system answers: its main thread has ended then, with the exit status.
func TestAHungFileSystemIsGivenUp(t *testing.T) {
	if testing.Short() {
		t.Skip("long: scripts/test --all runs it")
	}
	p := newPlace(t)
	mount := hungMount(t)
	node := func(name, node string) string {
		p.write(name, `{"nodes":[{"id":"a",`+strings.ReplaceAll(node, "MOUNT", mount)+`}]}`)
		return name
	}
	echo := node("echo.json", `"type":"echo"`)
	for name, c := range map[string]struct {
		args   []string
		env    string
		signal bool
	}{
		"workflow":       {[]string{"pflow-exec", "run", mount + "/f"}, "", true},
		"inputs":         {[]string{"pflow-exec", "run", echo, "--inputs", mount + "/f"}, "", true},
		"resume":         {[]string{"pflow-exec", "run", echo, "--resume", mount + "/f"}, "", true},
		"import":         {[]string{"pflow-lib", "import", mount + "/dir"}, "", true},
		"home of lib":    {[]string{"pflow-lib", "list"}, "PFLOW_HOME=" + mount + "/dir", true},
		"home of search": {[]string{"pflow-lib", "search", "x"}, "PFLOW_HOME=" + mount + "/dir", true},
		"home of a run":  {[]string{"pflow-exec", "run", echo}, "PFLOW_HOME=" + mount + "/dir", true},
		"read-file":      {[]string{"pflow-exec", "run", node("read.json", `"type":"read-file","params":{"file_path":"MOUNT/f"}`)}, "", true},
		"timeout":        {[]string{"pflow-exec", "run", node("timeout.json", `"type":"read-file","timeout":"1s","params":{"file_path":"MOUNT/f"}`)}, "", false},
		"command":        {[]string{"pflow-exec", "run", node("cat.json", `"type":"shell","timeout":"1s","params":{"command":"cat MOUNT/f"}`)}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(filepath.Join(bin, c.args[0]), c.args[1:]...)
			cmd.Dir, cmd.Env = p.dir, append(slices.Clip(p.env), c.env)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			go func() { _ = cmd.Wait() }()
			if c.signal {
				p.eventually(name+" waits for the file system", func() bool { return waitsForFUSE(cmd.Process.Pid) })
				if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
			}
			p.eventually(name+" has ended", func() bool { return mainThreadEnded(cmd.Process.Pid) })
		})
	}
}

// waitsForFUSE reports whether a thread of a process waits for the answer to a request.
func waitsForFUSE(pid int) bool {
	found, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	for _, file := range found {
		if where, err := os.ReadFile(file); err == nil && strings.Contains(string(where), "request_wait_answer") {
			return true
		}
	}
	return false
}

// mainThreadEnded reports whether the main thread of a process has ended, or the process.
func mainThreadEnded(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " Z")
}
