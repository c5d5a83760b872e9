// Package gen makes scripts for one server, and changes them. A [Mutator] has the seeds, the mutations that a [Profile]
// weighs, and the simplifications of package teasel's minimiser; [Sequence] is the stage that goes on with what answers hand out.
package gen
