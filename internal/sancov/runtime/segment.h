// A server that teasel does not fork, but lets run, counts in a segment of System V memory that teasel reads meanwhile. The
// pages of the counters are replaced by pages of the segment, so that everything that the server forks counts there as well.
// What else lies on these pages would be shared by these processes, too: at either end of the counters there is room for
// a page of its own, which the linker puts there (see pad.h).

enum { SEGMENT_WAIT = 1000 }; // looks at a module that another process is about to enter

static uint32_t segment_modules; // of this process
static uint64_t segment_program; // hash of its path

static struct segment *segment_head(void) { return (struct segment *)segment_base; }

// segment_over puts pages of the segment in the place of pages of ours.
static int segment_over(void *at, uint32_t page, uint32_t pages) {
	uint8_t *from = segment_base + (size_t)page * TEASEL_PAGE;
	return mremap(from, 0, (size_t)pages * TEASEL_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at; // 0: the pages stay where they are, too
}

// segment_enter returns the first page of the counters of a module, which is the same in every process of a program and
// whenever it is started again; 0: there is no room.
static uint32_t segment_enter(uint64_t key, uint32_t pages) {
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

// segment_region has a module count in the segment, as far as its counters have pages for themselves.
static void segment_region(struct region *r) {
	uintptr_t page = TEASEL_PAGE, first = (uintptr_t)r->begin & ~(page - 1), last = ((uintptr_t)r->end + page - 1) & ~(page - 1);
	if (first < (uintptr_t)r->outer) first += page;
	if (last > (uintptr_t)r->outer_end) last -= page;
	uint64_t key = hash_mix(hash_mix(segment_program, segment_modules++), (uint64_t)(r->end - r->begin));
	if (first >= last) return;
	uint32_t pages = (uint32_t)((last - first) / page), at = segment_enter(key | 1, pages);
	if (at) segment_over((void *)first, at, pages);
}

// segment_attach finds the segment that the environment names. Without it the server runs all the same.
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
	segment_over(texts.counts, SEGMENT_COUNTERS, 1);
	for (uint32_t k = 0; k < region_count; k++) segment_region(regions + k);
	AT.control = (const struct control *)(segment_base + SEGMENT_CONTROL * TEASEL_PAGE);
	AT.results = (struct results *)(segment_base + SEGMENT_RESULTS * TEASEL_PAGE);
	AT.operands = (struct operand *)(segment_base + SEGMENT_OPERANDS * TEASEL_PAGE);
	AT.operand_count = SEGMENT_OPERAND_COUNT;
	segment_over(site_count, SEGMENT_SITES, sizeof site_count / TEASEL_PAGE);
	segment_over(&recorder, SEGMENT_RECORDING, 1);
	memory_protect();
	crash_look();
	fatal_watch();
}
