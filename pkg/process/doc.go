// Package process starts child processes. No other package of the suite does.
//
// Starting: [Run] runs a command to its end and collects its output; [Start] returns a running child whose standard input
// and output stay open, such as an MCP server. Each child leads a process group of its own, so that a signal also reaches
// what the child has started. On Linux the kernel kills the child when this program dies. A child never inherits this
// program's standard input.
//
// Ending: SIGTERM, a grace, SIGKILL. First the child's group receives them. A descendant may have left the group, as daemons
// do. It is found by its descent, and by its marks: environment variables that only this child's descendants have
// ([Command.Marks]). [Strays] finds all descendants of this program that have left their groups. With [AdoptOrphans] they
// become children of this program when their parents end. Descent and marks are known on Linux only.
//
// Finding again after a crash: marks outlive the program that set them. A later program ends what a killed one left behind
// with [EndMarked], and [EnvironmentValues] lists the marks that are still in use. A [Claim] is a file that names a mark and
// is locked while its program lives; [EndAbandoned] ends what the killed programs of a folder of claims left behind. An [Identity] tells any other process,
// even on another machine, whether the process it names is still alive.
package process
