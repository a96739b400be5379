// Package payload is the form in which data crosses a Temporal cluster: encrypted by a codec, compressed, and beyond what a cluster
// takes in files of a folder that all machines share.
package payload
