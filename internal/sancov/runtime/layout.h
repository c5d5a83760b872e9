// What teasel and the target share: one memory file, laid out by teasel. layout.go holds the same in Go, and a test
// compares the two.
#ifndef TEASEL_LAYOUT_H
#define TEASEL_LAYOUT_H

#include <stdint.h>

enum {
	TEASEL_VERSION = 6,
	TEASEL_LINE = 64,         // bytes of counters that are looked at together
	TEASEL_FRAMES = 64,       // of a stack that are kept
	TEASEL_SAMPLES = 5,       // stacks of a run that does not end
	TEASEL_TEXT = 32,         // bytes of a compared text that are kept
	TEASEL_TEXTS = 64 * TEASEL_LINE, // counters of what comparisons of texts came to, before those of the modules
	TEASEL_SITE_LIMIT = 20,   // records of one comparison in one run
	TEASEL_SWITCH_LIMIT = 4,  // and of one switch, which has a record for each case
	TEASEL_CASE_LIMIT = 96,   // cases of a switch
	TEASEL_WATCH_LIMIT = 64,  // and if it is the only one that is watched
	TEASEL_SITES = 1 << 16,   // hashes of sites
};

// File descriptors, counted from the one that the environment names.
enum { FD_COMMAND, FD_STATUS, FD_MEMORY, FD_REPORT, FD_LIFE, FD_INPUT, FD_COUNT };

// What is asked of a run.
enum {
	ASK_FEATURES = 1,  // all features, not only news
	ASK_TRACE = 2,     // the hash and the work
	ASK_OPERANDS = 4,
	ASK_QUIET = 8,     // leave the maps of what is known as they are
};

// What goes over the pipes: one word each way.
enum {
	COMMAND_RUN = 1,   // inputs from..count
	COMMAND_RENEW = 2, // begin with a fresh child
	COMMAND_MUTATE = 3, // mutations from..count
	STATUS_DONE = 1,
	STATUS_DEAD = 2, // the child has died while it ran input cur
	STATUS_RENEWED = 3,
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

struct header {
	uint64_t magic, size;
	uint32_t capacity;     // counters that the maps have room for, a multiple of TEASEL_LINE
	uint32_t slot_count;   // entries of each table
	uint32_t feature_count, operand_count;
	uint64_t slots, virgin, bar, shortest, features, operands, watched, mutations, inputs; // offsets

	// Set by teasel before a command.
	uint32_t from, count;
	uint32_t most_runs; // of a child; 0: any number
	uint32_t watching;  // comparisons that are recorded, which have a bit in watched; 0: all are

	// Set by the target.
	uint32_t round, cur; // cur is the index of the running input
	int32_t pid;
	uint32_t status; // as waitpid gives it, of the last child that died
	uint32_t features_used, operands_used;
	uint32_t late;     // counters that came after the start and found no room
	uint32_t unhooked; // calls of comparison hooks that were switched off
	uint32_t samples; // stacks of the run under way; as many frames are places in the innermost function they share

	uint32_t looking; // for leaks, which is no part of a run's time
	uint64_t asked;   // set by teasel before it asks for a stack: round and cur of the run that it means

	// The last fatal signal, if its handler could still be run.
	uint32_t signal, code;
	uint32_t access; // 0: unknown, 1: read, 2: write, 3: execute
	uint32_t frame_count;
	uint64_t address, pc, sp;
	uint64_t frames[TEASEL_FRAMES];
};

// One input of a batch.
struct slot {
	uint64_t offset; // of the input in the memory
	uint32_t length, ask;
	uint32_t feature_first, feature_count; // in the table of features
	uint32_t operand_first, operand_count;
	uint64_t trace, work;
	uint64_t cpu;     // nanoseconds, if the trace was asked for
	uint32_t status;  // of a program that was forked for this input, as waitpid gives it
	uint32_t refused; // the harness returned -1
};

// One input of a batch that the harness's own mutator is to change.
struct mutation {
	uint64_t offset;      // of the input in the memory, where there is room for most bytes, and what becomes of it is put
	uint64_t with;        // of what it is crossed with, or of a token that may be put into it
	uint32_t length, with_length;
	uint32_t most;        // bytes of what becomes of it
	uint32_t times, seed; // of calls
	uint32_t crosses;
};

enum { TEASEL_TOO_LONG = 0xffffffff }; // the length of what became of an input, if it was more than the most

// The signals with which teasel asks where a run is that does not end; after the second it does not go on. Instead of the
// number of samples it may hear that the run is over.
enum { TEASEL_SAMPLE = 50, TEASEL_LAST_SAMPLE = 51, TEASEL_OVER = 1 << 30 };

enum { OPERAND_EQUAL = 1, OPERAND_CONST = 2, OPERAND_TEXT = 4, OPERAND_SWITCH = 8 };

struct operand {
	uint32_t site;
	uint8_t flags, size, a_length, b_length;
	uint8_t a[TEASEL_TEXT], b[TEASEL_TEXT];
};

#endif
