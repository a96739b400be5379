package mcpclient

import (
	"context"
	"encoding/json"
	"time"

	"github.com/pflow-suite/pflow/pkg/home"
)

// RecordsFile is the name of the file in the home with what was last seen of the servers.
const RecordsFile = "mcp-records.json"

// Record is what pflow-sync has last seen of a server.
type Record struct {
	// SyncedAt is the time of the last sync, and ChangedAt that of the last one that changed node types, as Changes says.
	SyncedAt  *time.Time `json:"synced_at,omitempty"`
	ChangedAt *time.Time `json:"changed_at,omitempty"`
	Changes   *Changes   `json:"changes,omitempty"`
	// MemoryMB is the resident memory of the server's processes in megabytes of 1,000,000 bytes, as doctor measured it at MeasuredAt.
	MemoryMB   int        `json:"memory_mb,omitempty"`
	MeasuredAt *time.Time `json:"measured_at,omitempty"`
	// Implementation is what the server called itself then, and Protocol the revision of MCP.
	Implementation string `json:"implementation,omitempty"`
	Protocol       string `json:"protocol,omitempty"`
}

// Changes are the node types that a sync has changed: numbers, and the names of the first ones.
type Changes struct {
	Added       int      `json:"added"`
	Removed     int      `json:"removed"`
	Overwritten int      `json:"overwritten"`
	Renamed     int      `json:"renamed"`
	Names       []string `json:"names,omitempty"`
}

// maxNames is the most names in Changes.
const maxNames = 20

// Add counts node types by one of the numbers, and keeps their names while there is room.
func (c *Changes) Add(number *int, names ...string) {
	*number += len(names)
	c.Names = append(c.Names, names[:min(len(names), maxNames-len(c.Names))]...)
}

// Any reports whether a sync has changed anything.
func (c *Changes) Any() bool { return c.Added+c.Removed+c.Overwritten+c.Renamed > 0 }

// Records returns the records by the names of the servers. A file that cannot be used counts as empty, because it only repeats what
// the next sync finds out.
func Records(h *home.Home) map[string]Record {
	records := map[string]Record{}
	data, err := h.Read(RecordsFile)
	if err != nil || json.Unmarshal(data, &records) != nil || records == nil {
		return map[string]Record{}
	}
	return records
}

// ChangeRecords reads the records, calls change with them and replaces the file. Records of servers that are not configured are
// dropped.
func ChangeRecords(ctx context.Context, h *home.Home, change func(map[string]Record)) error {
	return h.Lock(ctx, RecordsFile, func() error {
		servers, err := LoadServers(h)
		if err != nil {
			return err
		}
		records := Records(h)
		change(records)
		for name := range records {
			if _, configured := servers[name]; !configured {
				delete(records, name)
			}
		}
		data, err := indented(records)
		if err != nil {
			return err
		}
		return h.Write(data, 0o600, RecordsFile)
	})
}
