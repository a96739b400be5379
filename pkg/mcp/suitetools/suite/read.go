package suite

import (
	"context"

	"github.com/pflow-suite/pflow/pkg/fault"
)

// Print runs a short command that reads, and returns what it prints. The error is the fault of Unread, or too_large for more than most
// bytes.
func (s *Programs) Print(ctx context.Context, most int, program string, args ...string) ([]byte, error) {
	out := &Head{Most: most}
	o, err := s.Run(ctx, Command{Program: program, Args: append([]string{"--quiet"}, args...), Stdout: out})
	switch {
	case err != nil:
		return nil, err
	case o.Exit != 0:
		return nil, Unread(out.Kept.Bytes(), program, o)
	case out.Size > most:
		return nil, fault.New(fault.TooLarge, "%s printed %d bytes, more than the limit of %d", program, out.Size, most)
	}
	return out.Kept.Bytes(), nil
}

// Lines runs a command that prints lines, and calls onLine with each, which is valid during the call only. Lines returns when the command
// has ended; nil means that it succeeded.
func (s *Programs) Lines(ctx context.Context, onLine func(line []byte), program string, args ...string) error {
	o, err := s.Run(ctx, Command{Program: program, Args: append([]string{"--quiet"}, args...), Long: true, OnLine: onLine})
	if err == nil && o.Exit != 0 {
		return fault.New(fault.Unavailable, "%s ended with exit status %d", program, o.Exit).Detail("stderr", o.Stderr)
	}
	return err
}
