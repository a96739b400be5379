// Package cluster executes attempts at nodes and whole runs on a Temporal cluster.
//
// A worker starts the suite's own programs, so a node or a run does on a cluster what it does on one machine. An attempt is a Temporal
// workflow of one activity that starts pflow-exec node. It is never repeated here: if its worker is lost, its end is not known, and the
// run that has sent it decides as for any runner. A run is a workflow of one activity that starts pflow-exec run. The heartbeats of the
// activity have the events of the run so far, which are a checkpoint. If the worker is lost, Temporal starts the activity again with the
// last heartbeat, and the run goes on from there on another worker. Events are in heartbeats and results only, so the history of a run has
// a few dozen events at most, however long the run is.
//
// All that crosses the cluster is compressed, and encrypted if there is a key. What is too long for that is written to a folder that all
// machines share.
package cluster
