package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/pflow-suite/pflow/internal/temporalserver"
)

const (
	temporal = `test -x "$CASE_TEMPORAL"` // needs Temporal's program
	worker   = "pflow-temporal worker --queue bench --log-level error --home $W/"
)

// cluster starts a server of Temporal for the commands of the stage.
func (s *stage) cluster() *temporalserver.Server {
	server := must(temporalserver.New(os.Getenv("CASE_TEMPORAL"), s.dir))
	ends = append(ends, server.Kill)
	s.env = append(s.env, "HOME="+s.dir, "TEMPORAL_ADDRESS="+server.Address, "TEMPORAL_CONFIG_FILE=/dev/null")
	return server
}

// await waits until n nodes have begun, for at most five minutes.
func (s *stage) await(n int) {
	s.sh(fmt.Sprintf("timeout 300 sh -c 'until [ $(cat effects 2>/dev/null | wc -l) -ge %d ]; do sleep 0.02; done'", n))
}

// loss measures a run that loses its worker in the middle: how long it takes until the next node begins on another worker, how many nodes run
// again, which may be as many as ran when the worker was lost, the history, and the memory of the worker that brings the run to its end.
func loss(n, bytes, together int) func(*stage) []side {
	const blobs = " --blobs $W/blobs"
	limits := fmt.Sprint("gap ms <= 15000; history events <= 51200; worker memory MB <= 512; repeated nodes <= ", together)
	return func(s *stage) []side {
		server := s.cluster()
		check(os.Mkdir(s.dir+"/blobs", 0o700))
		s.steps(n, false, fmt.Sprintf("echo >> effects; head -c %d /dev/urandom | base64 -w0", bytes))
		s.write("w.json", `{"outputs":{"last":{"source":"${n1.exit_code}"}},`+s.sh("cat w.json")[1:])
		return []side{{name: "pflow-temporal", limits: limits, run: func() figures {
			first := s.start(worker + "one" + blobs)
			id := strings.TrimSpace(s.sh(fmt.Sprint("pflow-temporal start w.json --queue bench --format text --jobs ", together, blobs)))
			s.await(n / 2)
			second := s.start(worker + "two" + blobs)
			first.kill()
			lost := time.Now()
			s.await(int(s.count("cat effects")) + 1)
			f := figures{"gap ms": milliseconds(time.Since(lost))}
			s.sh("pflow-temporal wait " + id + blobs)
			events, size, err := server.History(id)
			check(err)
			f["repeated nodes"], f["worker memory MB"], f["history events"], f["history MB"] = s.count("cat effects")-float64(n), second.resident("VmHWM"), float64(events), float64(size)/1e6
			return f
		}}}
	}
}

// clusterBatch measures a batch whose items a runner executes on two workers with homes of their own. Each item must be done, and both workers
// must do some. An item is done again only if its worker counts as lost, which may happen on a machine that is overloaded.
func clusterBatch(s *stage) []side {
	s.cluster()
	s.start(worker + "one --slots 4")
	s.start(worker + "two --slots 4")
	s.write("w.json", workflow(shell("each", "echo ${item} ${PFLOW_HOME##*/} >> effects; echo ${item}",
		`,"runs_on":"cluster","idempotent":true,"batch":{"items":[`+s.sh("seq -s , 1000")+`],"parallel":true,"max_concurrent":8}`)))
	batch := inHome("1,000 items", "sh -c", "wall ms <= 300000; undone items <= 0; idle workers <= 0", "pflow-exec run --quiet w.json --runs-on 'cluster=exec pflow-temporal node --queue bench'")
	batch.after = func(f figures) {
		f["undone items"], f["idle workers"] = 1000-s.count("cut -d' ' -f1 effects | sort -u"), 2-s.count("cut -d' ' -f2 effects | sort -u")
	}
	return s.sides(batch)
}
