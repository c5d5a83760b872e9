// Package corpus keeps a campaign in a directory that people and other tools can read, and that survives a crash.
//
//	campaign.json     the campaign: target, options, statistics, what is known of every testcase
//	journal           events since campaign.json was written; while that is replaced, the events before are in
//	                  journal.previous
//	seeds/valid/      seeds that the target should accept
//	seeds/edge_cases/ seeds at the border of what is valid
//	interesting/      the corpus: one encoded input per file, named by its content
//	crashes/ hangs/   the inputs of findings that are crashes and hangs, plain, named by the finding; where there is a queue/,
//	                  by AFL++'s names
//	queue/            the corpus again under AFL++'s names, in a campaign that has joined one of AFL++'s
//	findings/         one file per finding, with all that is needed to reproduce it
//	sources.json      the source files that the testcases reach, and those that none does, where that is known
//	stats.csv         a line for every progress event
//	fuzzer_stats      and plot_data: as AFL++ 4 writes them, for its tools and those of others
//	lock              held, and with the process id in it, while a campaign runs
//
// A [Dir] is a [teasel.Reporter]. A finding is on disk, file and directory synced, when Report returns. The rest is
// written at once and synced about once a second, so that a killed process loses nothing and a power failure loses the
// last second. There is no database: a corpus grows slowly once the first minutes are over, and plain files can be
// read, copied and repaired by anybody.
//
// A broken file is reported as a [Problem] and left out; the rest is loaded.
package corpus
