package flow

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// place is the place of an event in the stream of a job: who knows it can go on with the stream after the event. It opens no more than
// the job's id does.
type place struct {
	job string
	// run tells the runs apart that continue each other; it is not the id of the run, which callers do not get.
	run string
	seq int64
	// progress is what was reported with the event.
	progress float64
}

// String returns the place as a text.
func (p place) String() string {
	return strings.Join([]string{p.job, p.run, strconv.FormatInt(p.seq, 10), strconv.FormatFloat(p.progress, 'g', -1, 64)}, "/")
}

// parsePlace parses what String returns. It leaves the check of the job's id to pflow-share.
func parsePlace(text string) (p place, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) != 4 {
		return place{}, false
	}
	p.job, p.run = parts[0], parts[1]
	var bad, worse error
	p.seq, bad = strconv.ParseInt(parts[2], 10, 64)
	p.progress, worse = strconv.ParseFloat(parts[3], 64)
	return p, bad == nil && worse == nil && p.seq >= 0 && p.progress >= 0 && !math.IsInf(p.progress, 1) && p.String() == text
}

// mark returns what stands for a run in a place.
func mark(run string) string {
	sum := sha256.Sum256([]byte(run))
	return hex.EncodeToString(sum[:6])
}
