// What teasel and the target share: two memory files, laid out by teasel. The target may only read the first, control; the
// second, results, is writable and so may hold anything once the target has gone wrong. layout.go holds the same in Go, and a
// test compares the two.
#ifndef TEASEL_LAYOUT_H
#define TEASEL_LAYOUT_H

#include <stdint.h>

enum {
	TEASEL_VERSION = 8,
	TEASEL_LINE = 64,         // bytes of counters that are looked at together
	TEASEL_FRAMES = 64,       // of a stack that are kept
	TEASEL_SAMPLES = 5,       // stacks of a run that does not end
	TEASEL_TEXT = 32,         // bytes of a compared text that are kept
	TEASEL_TEXTS = 64 * TEASEL_LINE, // counters of the results of comparisons of texts, before those of the modules
	TEASEL_SITE_LIMIT = 20,   // records of one comparison in one run
	TEASEL_SWITCH_LIMIT = 4,  // and of one switch, which has a record for each case
	TEASEL_CASE_LIMIT = 96,   // cases of a switch
	TEASEL_WATCH_LIMIT = 64,  // and if it is the only one that is watched
	TEASEL_SITES = 1 << 16,   // hashes of sites
	TEASEL_PAGE = 4096,
	TEASEL_MODULES = 64,      // of all programs that count in a segment
};

// File descriptors, counted from the one that the environment names.
enum { FD_COMMAND, FD_STATUS, FD_CONTROL, FD_RESULTS, FD_REPORT, FD_LIFE, FD_INPUT, FD_COUNT };

// What a run is asked for.
enum {
	ASK_FEATURES = 1,  // all features, not only new ones
	ASK_TRACE = 2,     // the hash and the work
	ASK_OPERANDS = 4,
	ASK_QUIET = 8,     // leave the maps of known features as they are
	ASK_STACKS = 16,   // have a sanitizer keep the stacks of allocations, for its report
};

enum {
	COMMAND_RUN = 1,    // inputs from..count
	COMMAND_RENEW = 2,  // begin with a fresh child
	COMMAND_MUTATE = 3, // mutations from..count
	STATUS_DONE = 1,
	STATUS_DEAD = 2, // the child has died while it ran input cur
	STATUS_RENEWED = 3,
};

// What goes over the command pipe.
struct command {
	uint32_t round; // as in control; another one is not teasel's
	uint32_t word;
};

// What goes over the status pipe. The target may write anything to any of its descriptors, so an answer carries the number
// that teasel has chosen for this server, and the round that it belongs to.
struct answer {
	uint64_t nonce;
	uint32_t round, word;
	uint32_t status, reserved; // of a child that has died, as waitpid gives it
};

// What kind of target says hello.
enum { HELLO_HARNESS = 1, HELLO_ASAN = 2, HELLO_MSAN = 4, HELLO_UBSAN = 8, HELLO_MUTATOR = 16, HELLO_CROSSER = 32, HELLO_TSAN = 64 };

struct hello {
	uint64_t magic;
	uint32_t version, counters, modules, flags;
	uint32_t pid;
	uint32_t edges; // counters without the gaps between modules
	uint64_t shape; // hash of the order of functions and blocks, the same with and without comparison hooks
};

#define TEASEL_MAGIC UINT64_C(0x6c65736165740a01)

// The beginning of the control memory. The offsets are within the memory that the field belongs to.
struct control {
	uint64_t nonce;        // of the server that is being started
	uint64_t malloc_limit; // bytes of one allocation that is reported as out of memory; 0: none is
	uint32_t capacity;     // counters that the maps have room for, a multiple of TEASEL_LINE
	uint32_t slot_count;   // entries of each table
	uint32_t feature_count, operand_count;
	uint64_t control_size, slots, watched, mutations, inputs; // in control
	uint64_t results_size, outcomes, virgin, max_len, shortest, features, operands, outputs; // in results

	// Set before a command.
	uint32_t from, count;
	uint32_t most_runs; // of a child; 0: any number
	uint32_t watching;  // comparisons that are recorded, which have a bit in watched; 0: all are
	uint32_t round;     // another number for each command
	uint32_t sent;      // the same, once the command is in the pipe
	uint64_t asked; // set before a stack is asked for: round and cur of the run that is meant
};

// One input of a batch.
struct slot {
	uint64_t offset; // of the input in control
	uint32_t length, ask;
};

// One input of a batch that the harness's own mutator is to change.
struct mutation {
	uint64_t offset;      // of the input in control
	uint64_t with;        // in control, of what it is crossed with, or of a token that may be put into it
	uint64_t output;      // in results, where the mutant goes
	uint32_t length, with_length;
	uint32_t most;        // bytes of the mutant
	uint32_t times, seed; // of calls
	uint32_t crosses;
};

// The beginning of the results.
struct results {
	uint32_t cur; // index of the input in flight
	int32_t pid;  // of the process that runs it
	uint32_t features_used, operands_used;
	uint32_t late;     // counters that came after the start and found no room
	uint32_t unhooked; // calls of comparison hooks that were switched off
	uint32_t samples;  // stacks of the run in flight; as many frames are places in the innermost function they share
	uint32_t looking;  // for leaks, which is no part of a run's time

	// The last fatal signal, if its handler could still be run.
	uint32_t signal, code;
	uint32_t access; // 0: unknown, 1: read, 2: write, 3: execute
	uint32_t frame_count;
	uint64_t address, pc, sp;
	uint64_t frames[TEASEL_FRAMES];
};

// What came of one slot.
struct outcome {
	uint32_t feature_first, feature_count; // in the table of features
	uint32_t operand_first, operand_count;
	uint64_t trace, work;
	uint64_t cpu;     // nanoseconds, if the trace was asked for
	uint32_t status;  // of a program that was forked for this input, as waitpid gives it
	uint32_t refused; // the harness returned -1
	uint32_t length;  // of the mutant
	uint32_t reserved;
};

enum { TEASEL_TOO_LONG = 0xffffffff }; // the length of a mutant that was longer than the most

// The signals with which teasel asks where a run is that does not end; after the second it does not go on. Instead of the
// number of samples it may hear that the run is over.
enum { TEASEL_SAMPLE = 50, TEASEL_LAST_SAMPLE = 51, TEASEL_OVER = 1 << 30 };

enum { OPERAND_EQUAL = 1, OPERAND_CONST = 2, OPERAND_TEXT = 4, OPERAND_SWITCH = 8 };

struct operand {
	uint32_t site;
	uint8_t flags, size, a_length, b_length;
	uint8_t a[TEASEL_TEXT], b[TEASEL_TEXT];
};

// The segment of a server, in pages: what lies over recording and site_count, what hooks look at, operands, and counters,
// those of comparisons of texts first.
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
	uint32_t first; // page in the segment; 0: not known yet
	uint32_t pages;
};

// The beginning of a segment.
struct segment {
	uint64_t magic;
	uint32_t version;
	uint32_t capacity; // pages of counters that may be used
	uint32_t used;     // and are
	uint32_t reserved;
	struct module modules[TEASEL_MODULES];
};

#endif
