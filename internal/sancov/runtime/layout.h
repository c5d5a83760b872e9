// The layout of the memory that teasel and the target share: two memory files, laid out by teasel. The target can only read the
// first, control; the second, results, is writable and may contain anything after a fault of the target. layout.go declares the
// same in Go, and a test compares the two.
#ifndef TEASEL_LAYOUT_H
#define TEASEL_LAYOUT_H

#include <stdint.h>

enum {
	TEASEL_VERSION = 10,
	TEASEL_LINE = 64,         // counters that are scanned together
	TEASEL_FRAMES = 64,       // frames of a stack that are kept
	TEASEL_SAMPLES = 5,       // stacks sampled of a run that has timed out
	TEASEL_TEXT = 32,         // bytes of a compared string that are kept
	TEASEL_TEXTS = 64 * TEASEL_LINE, // counters for results of string comparisons, before those of the modules
	TEASEL_SITE_LIMIT = 20,   // records of one comparison site in one run
	TEASEL_SWITCH_LIMIT = 4,  // recorded executions of one switch in one run, each of which has a record for each case
	TEASEL_CASE_LIMIT = 96,   // recorded cases of a switch
	TEASEL_WATCH_LIMIT = 64,  // records of one comparison site if it is the only one that is watched
	TEASEL_SITES = 1 << 16,   // number of hash values of comparison sites
	TEASEL_PAGE = 4096,
	TEASEL_MODULES = 64,      // modules of all programs that count in a segment
};

// File descriptors, relative to the one that the environment names.
enum { FD_COMMAND, FD_STATUS, FD_CONTROL, FD_RESULTS, FD_REPORT, FD_LIFE, FD_INPUT, FD_COUNT };

// What teasel asks of a run.
enum {
	ASK_FEATURES = 1,  // all features, not only new ones
	ASK_TRACE = 2,     // the hash of the trace, the work and the processor time
	ASK_OPERANDS = 4,
	ASK_QUIET = 8,     // do not change the maps of known features
	ASK_STACKS = 16,   // make a sanitizer keep the stacks of allocations, for its report
	ASK_NO_LEAKS = 32, // do not check for leaks
};

enum {
	COMMAND_RUN = 1,    // run the inputs from..count
	COMMAND_RENEW = 2,  // end the child, so that the next command is for a fresh one
	COMMAND_MUTATE = 3, // make the mutations from..count
	STATUS_DONE = 1,
	STATUS_DEAD = 2, // the child has died while it ran the input with index cur
	STATUS_RENEWED = 3,
};

// A message on the command pipe.
struct command {
	uint32_t round; // as in control; a command with another round was not sent by teasel
	uint32_t word;
};

// A message on the status pipe. The target may write anything to any of its descriptors, so that an answer carries the nonce
// that teasel has chosen for this server, and the round that it belongs to.
struct answer {
	uint64_t nonce;
	uint32_t round, word;
	uint32_t status, reserved; // status: wait status of a child that has died
};

// Flags of struct hello.
enum { HELLO_HARNESS = 1, HELLO_ASAN = 2, HELLO_MSAN = 4, HELLO_UBSAN = 8, HELLO_MUTATOR = 16, HELLO_CROSSOVER = 32, HELLO_TSAN = 64, HELLO_LOOPS = 128, HELLO_MEMORY = 256 };

struct hello {
	uint64_t magic;
	uint32_t version, counters, modules, flags;
	uint32_t pid;
	uint32_t edges; // number of counters, without the gaps between modules
	uint64_t shape; // hash of the order of functions and blocks, the same with and without comparison hooks
};

#define TEASEL_MAGIC UINT64_C(0x6c65736165740a01)

// The beginning of the control memory. Offsets are relative to the beginning of the file named in the comment.
struct control {
	uint64_t nonce;        // of the server that is being started
	uint64_t malloc_limit; // size of a single allocation above which out of memory is reported; 0: no limit
	uint32_t capacity;     // counters for which the maps have room, a multiple of TEASEL_LINE
	uint32_t slot_count;   // length of the tables of slots, mutations and outcomes
	uint32_t feature_count, operand_count;
	uint64_t control_size, slots, watched, mutations, inputs; // in control
	uint64_t results_size, outcomes, virgin, max_len, shortest, features, operands, outputs; // in results

	// Set before a command.
	uint32_t from, count;
	uint32_t max_runs; // of a child; 0: any number
	uint32_t watching; // number of comparison sites to record, each of which has a bit in watched; 0: all sites are recorded
	uint32_t round;    // differs for each command
	uint32_t sent;     // the round of the last command that has been written to the pipe
	uint64_t asked;    // set before a stack is sampled: round and cur of the run to sample
};

// One input of a batch.
struct slot {
	uint64_t offset; // of the input in control
	uint32_t length, ask;
};

// One mutation of a batch, made by the harness's own mutator.
struct mutation {
	uint64_t offset;      // of the input in control
	uint64_t with;        // in control, of the second input of a crossover, or of a token that may be inserted
	uint64_t output;      // in results, of the mutant
	uint32_t length, with_length;
	uint32_t max_length;        // bytes of the mutant
	uint32_t times, seed; // number of calls, and seed of the first
	uint32_t cross_over;
};

// The beginning of the results.
struct results {
	uint32_t cur; // index of the input in flight
	int32_t pid;  // of the process that runs it
	uint32_t features_used, operands_used;
	uint32_t uncounted; // counters of modules that were loaded after the start and for which there was no room
	uint32_t unhooked; // calls of comparison hooks that were switched off
	uint32_t samples;    // stacks sampled of the run in flight; the first as many frames are positions in the innermost common function
	uint32_t forked;     // the mark of runtime/forked.h: a process that the target has forked in the run in flight has died of a fault
	uint32_t leak_check; // 1: a check for leaks is in progress, whose time does not count as the run's

	// The first fatal signal of the batch, if its handler could be run.
	uint32_t signal, code;
	uint32_t access; // 0: unknown, 1: read, 2: write, 3: execute
	uint32_t frame_count;
	uint64_t address, pc, sp;
	uint64_t frames[TEASEL_FRAMES];
};

// The result of one slot.
struct outcome {
	uint32_t feature_first, feature_count; // in the table of features
	uint32_t operand_first, operand_count;
	uint64_t trace, work;
	uint64_t cpu;     // processor time in nanoseconds, with ASK_TRACE
	uint32_t status;  // wait status of a program that was forked for this input
	uint32_t rejected; // the harness returned -1
	uint32_t length;  // of the mutant
	uint32_t reserved;
};

enum { TEASEL_MUTANT_TOO_LONG = 0xffffffff }; // the length of a mutant that exceeds max_length

// The signals with which teasel samples the stack of a run that has timed out; the run does not continue after the second. If the
// run has ended already, the number of samples is set to TEASEL_RUN_OVER.
enum { TEASEL_SAMPLE = 50, TEASEL_LAST_SAMPLE = 51, TEASEL_RUN_OVER = 1 << 30 };

enum { OPERAND_EQUAL = 1, OPERAND_CONST = 2, OPERAND_TEXT = 4, OPERAND_SWITCH = 8 };

struct operand {
	uint32_t site;
	uint8_t flags, size, a_length, b_length;
	uint8_t a[TEASEL_TEXT], b[TEASEL_TEXT];
};

// The layout of a server's segment, in pages: the pages that replace recorder and site_count, the control and results that hooks
// use, operands, and counters, those for string comparisons first.
enum {
	SEGMENT_RECORDING = 1,
	SEGMENT_SITES = 2,
	SEGMENT_CONTROL = 18,
	SEGMENT_RESULTS = 19,
	SEGMENT_OPERANDS = 20,
	SEGMENT_COUNTERS = 56,
	SEGMENT_OPERAND_COUNT = 2048,
};

#define SEGMENT_FULL UINT32_MAX

// One program's, or library's, part of the counters.
struct module {
	uint64_t key;   // 0: there is none
	uint32_t first; // page in the segment; 0: not known yet; SEGMENT_FULL: there is no room
	uint32_t pages;
};

// The beginning of a segment.
struct segment {
	uint64_t magic;
	uint32_t version;
	uint32_t capacity; // pages of counters that may be used
	uint32_t used;     // pages of counters in use
	uint32_t reserved;
	struct module modules[TEASEL_MODULES];
};

#endif
