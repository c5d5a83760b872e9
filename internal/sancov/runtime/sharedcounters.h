// A program may end without running any code of the runtime: by the system call exit_group, by _exit in a library, by execve. The
// child of such a program keeps its counters in memory that it shares with the server, which judges the run if the child has
// not.
//
// Counters share pages with other variables. The server's variables are not affected, since the shared memory replaces the pages
// in the child only. A process that the child forks gets private pages again, as it would have without the runtime.

struct shared_range {
	uint8_t *begin, *end; // whole pages of the program
	uint8_t *copy;        // address, in the server, of the memory that the child has at begin
};

static struct shared_range shared_ranges[REGIONS + 1];
static uint32_t shared_count;
static int counters_shared; // in this process

// bytes_copy is a memcpy that sanitizers do not intercept: they would report a copy of the redzones between variables.
static void bytes_copy(uint8_t *to, const uint8_t *from, size_t n) {
	typedef uint64_t __attribute__((may_alias, aligned(1))) word_t;
	size_t i = 0;
	for (; i + sizeof(word_t) <= n; i += sizeof(word_t)) *(word_t *)(to + i) = *(const word_t *)(from + i);
	for (; i < n; i++) to[i] = from[i];
}

// shared_add adds the pages of [begin, end), together with those ranges that it overlaps.
static void shared_add(uint8_t *begin, uint8_t *end) {
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	begin = (uint8_t *)((uintptr_t)begin & ~(page - 1));
	end = (uint8_t *)(((uintptr_t)end + page - 1) & ~(page - 1));
	for (uint32_t k = 0; k < shared_count;) {
		struct shared_range *r = shared_ranges + k;
		if (begin >= r->end || r->begin >= end) {
			k++;
			continue;
		}
		begin = r->begin < begin ? r->begin : begin;
		end = r->end > end ? r->end : end;
		*r = shared_ranges[--shared_count];
		k = 0;
	}
	shared_ranges[shared_count++] = (struct shared_range){begin, end, 0};
}

// counters_unshare replaces the shared pages by private ones with the same content.
static void counters_unshare(void) {
	for (uint32_t k = 0; k < shared_count && counters_shared; k++) {
		struct shared_range r = shared_ranges[k];
		size_t n = (size_t)(r.end - r.begin);
		uint8_t *own = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (own == MAP_FAILED) continue;
		bytes_copy(own, r.begin, n);
		mremap(own, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, r.begin);
	}
	counters_shared = 0;
}

// In a process with several threads the pages must not be replaced while other threads use them. There the forked process
// replaces its own pages, and sees writes of the parent until it has done so.
static void fork_prepare(void) {
	if (counters_shared && thread_count() == 1) counters_unshare();
}

// shared_begin makes the children that the server forks from now on share their counters. Since that costs time in each run, it is
// called when a child has ended without judging its run. It returns 0 if it was called before.
static int shared_begin(void) {
	static int begun;
	if (begun) return 0;
	begun = 1;
	if (pthread_atfork(fork_prepare, 0, counters_unshare)) return 1;
	for (uint32_t k = 0; k < region_count; k++) shared_add(regions[k].begin, regions[k].end);
	shared_add((uint8_t *)&texts, (uint8_t *)(&texts + 1));
	for (uint32_t k = 0; k < shared_count; k++) {
		struct shared_range *r = shared_ranges + k;
		r->copy = mmap(0, (size_t)(r->end - r->begin), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (r->copy == MAP_FAILED) shared_count = k;
	}
	return 1;
}

// counters_share is called in the child, before the program runs and while its counters are zero.
static void counters_share(void) {
	for (uint32_t k = 0; k < shared_count; k++) {
		struct shared_range r = shared_ranges[k];
		bytes_copy(r.copy, r.begin, (size_t)(r.end - r.begin));
		mremap(r.copy, 0, (size_t)(r.end - r.begin), MREMAP_MAYMOVE | MREMAP_FIXED, r.begin); // with size 0, the pages stay mapped at both addresses
	}
	counters_shared = 1;
}

static void shared_fetch(void *to, size_t n) {
	uint8_t *p = to;
	for (uint32_t k = 0; k < shared_count; k++) {
		struct shared_range r = shared_ranges[k];
		if (p >= r.begin && p + n <= r.end) bytes_copy(p, r.copy + (p - r.begin), n);
	}
}

// counters_fetch is called in the server: it copies the counters of a child that has ended.
static void counters_fetch(void) {
	for (uint32_t k = 0; k < region_count; k++) shared_fetch(regions[k].begin, (size_t)(regions[k].end - regions[k].begin));
	shared_fetch(&texts, sizeof texts);
}
