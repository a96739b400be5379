package main

import (
	"syscall"
	"time"
)

// killSomething kills a worker, the server, or a command, and starts it again.
func (c *onCluster) killSomething() error {
	switch c.rng.IntN(8) {
	case 0, 1, 2:
		i := c.rng.IntN(2)
		if err := c.noteFinished(); err != nil {
			return err
		}
		c.killCall(c.workers[i])
		return c.startWorker(i)
	case 3:
		return c.killBoth()
	case 4, 5:
		c.Kills++
		return c.killServer(c.soon(1500 * time.Millisecond))
	case 6:
		if !c.running(c.batch) {
			return nil
		}
		if c.killCall(c.batch); c.batch.exit == 0 {
			return nil
		}
		c.Resumes++
		return c.startBatch()
	default:
		if pids := c.commandsOf("node"); len(pids) > 0 && syscall.Kill(pids[c.rng.IntN(len(pids))], syscall.SIGKILL) == nil {
			c.Kills++
		}
		if c.running(c.follower) {
			c.killCall(c.follower)
		}
		return nil
	}
}

// killServer kills the server and starts it again after some time.
func (c *onCluster) killServer(away time.Duration) error {
	c.serving.Lock()
	defer c.serving.Unlock()
	c.server.Kill()
	time.Sleep(away)
	return c.server.Start()
}

// watchServer starts the server again when it has not answered for half a minute: its database can stay interrupted, "interrupted (9)",
// after a request that was given up on a busy machine. That counts as a loss.
func (c *onCluster) watchServer() {
	for failed := 0; ; {
		select {
		case <-c.watching:
			return
		case <-time.After(5 * time.Second):
		}
		if failed++; c.answers() {
			failed = 0
		}
		if failed == 6 {
			failed = 0
			c.restarts.Add(1)
			if c.killServer(0) != nil {
				return
			}
		}
	}
}

// answers reports whether the server lists workflows.
func (c *onCluster) answers() bool {
	c.serving.Lock()
	defer c.serving.Unlock()
	_, err := c.server.Open()
	return err == nil
}

// killBoth kills both workers, so that the work waits for new ones.
func (c *onCluster) killBoth() error {
	if err := c.noteFinished(); err != nil {
		return err
	}
	for _, w := range c.workers {
		c.killCall(w)
	}
	time.Sleep(c.soon(2 * time.Second))
	for i := range c.workers {
		if err := c.startWorker(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *onCluster) running(call *call) bool {
	select {
	case <-call.ended:
		return false
	default:
		return true
	}
}

// killCall kills the process of a call and waits for its end.
func (c *onCluster) killCall(call *call) {
	if call.cmd.Process.Kill() == nil {
		c.Kills++
	}
	c.wait(call)
}

// losses returns how often something was lost.
func (c *onCluster) losses() int { return c.Kills + int(c.restarts.Load()) }
