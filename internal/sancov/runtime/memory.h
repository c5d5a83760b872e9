// The shared memory that this process has mapped. Stray writes of the target must not damage it undetected: each mapping lies
// between guard pages, control is mapped read-only, and the pointers to the mappings are on a page of their own that is made
// read-only before the target gets its first input.

enum { GUARD = 1 << 20 }; // bytes before and behind a mapping, a multiple of any page size

struct shared {
	const struct control *control;
	const uint8_t *inputs; // the control memory as bytes; offsets of inputs are relative to it
	const struct slot *slots;
	const uint8_t *watched;
	const struct mutation *mutations;
	struct results *results;
	struct outcome *outcomes;
	uint8_t *virgin; // a bit for each unknown feature
	uint16_t *max_len, *shortest;
	uint32_t *features;
	struct operand *operands;
	uint8_t *outputs; // the results as bytes; offsets of mutants are relative to it
	struct state *state;
	uint64_t nonce, malloc_limit;
	uint32_t capacity, slot_count, feature_count, operand_count;
	int first_fd;
	int attached;
};

static union {
	struct shared shared;
	uint8_t page[4096];
} fixed __attribute__((aligned(4096)));

#define SHARED (fixed.shared)

// The value of exit_reason of a child that has run the batch and could not send its answer, since the target has closed the
// descriptor. All other values are ignored: the target may write anything there.
#define ANSWER_FAILED UINT64_C(0x7ea5e1000000003b)

// Values of judged.
enum { JUDGED_NOT, JUDGED, JUDGED_LOOP_ENDED };

// Memory that a server and its child share besides the results.

struct state {
	uint64_t exit_reason;
	uint64_t return_address; // of the harness; 0: unknown
	uint32_t leak_checks;
	uint32_t leaks_asked; // the program checks for leaks itself
	uint32_t leaked; // the run has ended since it does
	uint32_t judged; // the child has judged the run of its program
	uint32_t resume; // index of the input with which a child of a program with a loop goes on; 0: it waits for a command
};

// map_guarded maps a file, or zeroed memory if fd is -1, between guard pages. It returns 0 if that fails.
static void *map_guarded(int fd, size_t size, int protection) {
	uint8_t *p = mmap(0, size + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED) return 0;
	void *at = mmap(p + GUARD, size, protection, MAP_SHARED | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
	return at == MAP_FAILED ? 0 : at;
}

// memory_map maps the files that teasel has laid out after our hello.
static int memory_map(int state_fd) {
	struct stat st;
	if (fstat(SHARED.first_fd + FD_CONTROL, &st)) return 0;
	const struct control *c = map_guarded(SHARED.first_fd + FD_CONTROL, (size_t)st.st_size, PROT_READ);
	if (!c) return 0;
	uint8_t *r = map_guarded(SHARED.first_fd + FD_RESULTS, c->results_size, PROT_READ | PROT_WRITE);
	struct state *state = map_guarded(state_fd, sizeof *state, PROT_READ | PROT_WRITE);
	if (!r || !state) return 0;
	const uint8_t *in = (const uint8_t *)c;
	SHARED = (struct shared){
		.control = c, .inputs = in, .slots = (const struct slot *)(in + c->slots), .watched = in + c->watched,
		.mutations = (const struct mutation *)(in + c->mutations), .results = (struct results *)r, .outputs = r,
		.outcomes = (struct outcome *)(r + c->outcomes), .virgin = r + c->virgin, .max_len = (uint16_t *)(r + c->max_len),
		.shortest = (uint16_t *)(r + c->shortest), .features = (uint32_t *)(r + c->features),
		.operands = (struct operand *)(r + c->operands), .state = state, .nonce = c->nonce, .malloc_limit = c->malloc_limit,
		.capacity = c->capacity, .slot_count = c->slot_count, .feature_count = c->feature_count,
		.operand_count = c->operand_count, .first_fd = SHARED.first_fd, .attached = 1,
	};
	return 1;
}

// memory_protect makes the pointers to the mappings read-only.
static void memory_protect(void) {
	if (sysconf(_SC_PAGESIZE) == (long)sizeof fixed) mprotect(&fixed, sizeof fixed, PROT_READ);
}
