// A server that teasel does not fork for inputs counts in a segment of System V shared memory, which teasel reads while the server
// runs. The pages of the counters are replaced by pages of the segment, so that processes that the server forks count there as
// well. Other variables on these pages would be shared by these processes, too: padding at either end of the counters prevents
// that (see pad.h).

enum { SEGMENT_WAIT = 1000 }; // how often to check whether another process has assigned a module its pages

static uint32_t segment_modules; // number of modules of this process
static uint64_t segment_program; // hash of the path of the program

static struct segment *segment_head(void) { return (struct segment *)segment_base; }

// segment_map_over replaces pages of this process by pages of the segment.
static int segment_map_over(void *at, uint32_t page, uint32_t pages) {
	uint8_t *from = segment_base + (size_t)page * TEASEL_PAGE;
	return mremap(from, 0, (size_t)pages * TEASEL_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at; // with size 0, the pages stay mapped at from too
}

// segment_claim returns the first page of the counters of a module, which is the same in every process of a program and
// whenever it is started again; 0: there is no room.
static uint32_t segment_claim(uint64_t key, uint32_t pages) {
	struct segment *s = segment_head();
	for (uint32_t i = 0; i < TEASEL_MODULES; i++) {
		struct module *m = s->modules + i;
		uint64_t is = 0;
		if (__atomic_compare_exchange_n(&m->key, &is, key, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
			uint32_t at = __atomic_fetch_add(&s->used, pages, __ATOMIC_SEQ_CST);
			uint32_t first = at + pages <= s->capacity ? at + SEGMENT_COUNTERS : SEGMENT_FULL;
			__atomic_store_n(&m->first, first, __ATOMIC_SEQ_CST);
		} else if (is != key) {
			continue;
		}
		for (int n = 0; n < SEGMENT_WAIT && !__atomic_load_n(&m->first, __ATOMIC_SEQ_CST); n++) usleep(100);
		return m->first == SEGMENT_FULL ? 0 : m->first;
	}
	return 0;
}

// segment_region makes a module count in the segment, except for counters that share a page with other variables.
static void segment_region(struct region *r) {
	uintptr_t page = TEASEL_PAGE, first = (uintptr_t)r->begin & ~(page - 1), last = ((uintptr_t)r->end + page - 1) & ~(page - 1);
	if (first < (uintptr_t)r->outer) first += page;
	if (last > (uintptr_t)r->outer_end) last -= page;
	uint64_t key = hash_mix(hash_mix(segment_program, segment_modules++), (uint64_t)(r->end - r->begin));
	if (first >= last) return;
	uint32_t pages = (uint32_t)((last - first) / page), at = segment_claim(key | 1, pages);
	if (at) segment_map_over((void *)first, at, pages);
}

// segment_attach attaches to the segment that the environment names. If that fails, the server runs without it.
static void segment_attach(const char *id) {
	if (sysconf(_SC_PAGESIZE) != TEASEL_PAGE) return;
	void *p = shmat(atoi(id), 0, 0);
	struct segment *s = p;
	if (p == (void *)-1) return;
	if (s->magic != TEASEL_MAGIC || s->version != TEASEL_VERSION) {
		shmdt(p);
		return;
	}
	segment_base = p;
	char path[512];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path);
	for (ssize_t i = 0; i < n; i++) segment_program = hash_mix(segment_program, (uint8_t)path[i]);
	segment_map_over(texts.counts, SEGMENT_COUNTERS, 1);
	for (uint32_t k = 0; k < region_count; k++) segment_region(regions + k);
	SHARED.control = (const struct control *)(segment_base + SEGMENT_CONTROL * TEASEL_PAGE);
	SHARED.results = (struct results *)(segment_base + SEGMENT_RESULTS * TEASEL_PAGE);
	SHARED.operands = (struct operand *)(segment_base + SEGMENT_OPERANDS * TEASEL_PAGE);
	SHARED.operand_count = SEGMENT_OPERAND_COUNT;
	segment_map_over(site_count, SEGMENT_SITES, sizeof site_count / TEASEL_PAGE);
	segment_map_over(&recorder, SEGMENT_RECORDING, 1);
	memory_protect();
	handlers_record();
	fatal_handlers_install();
}
