// Edge counters: clang's inline 8-bit counters of all modules, one module after another, each starting at a multiple of 64. The
// counters of string comparisons come first. Hit counts are classified into AFL's eight buckets. A feature is 8 times the index
// of a counter plus the bucket.

struct region {
	uint8_t *begin, *end;
	const uint8_t *outer, *outer_end; // the same with the padding at either end
	uint32_t at; // index of its first counter
	const uintptr_t *pc_table; // two words for each counter: its address, and whether a function begins there; 0: unknown
};

enum { REGIONS = 1024 };

static struct region regions[REGIONS];
static uint32_t region_count, counter_count = TEASEL_TEXTS, edge_count;
static uint64_t shape = 0xcbf29ce484222325u;

static inline uint64_t hash_mix(uint64_t h, uint64_t x) {
	h = (h ^ x) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

PAD(pad);

static int is_pad(const uint8_t *p, const uint8_t *end) {
	if (end - p < (ptrdiff_t)sizeof pad) return 0;
	for (size_t i = 0; i < sizeof PAD_TEXT; i++)
		if (p[i] != PAD_TEXT[i]) return 0;
	return 1;
}

static uint8_t *segment_base; // 0: there is none
static void segment_region(struct region *r);

// Of ThreadSanitizer. Threads add to a counter without a lock, and clang 14 looks at these accesses as at those of the program.
void AnnotateBenignRaceSized(const char *file, int line, const volatile void *begin, size_t size, const char *why) __attribute__((weak));

// The constructor of each module calls this function: before main, or when the module is loaded later.
void __sanitizer_cov_8bit_counters_init(uint8_t *begin, uint8_t *end) {
	const uint8_t *outer = begin, *outer_end = end;
	if (AnnotateBenignRaceSized) AnnotateBenignRaceSized(__FILE__, __LINE__, begin, (size_t)(end - begin), "coverage");
	for (uint32_t i = 0; i < region_count; i++)
		if (regions[i].outer == outer) return;
	if (is_pad(begin, end)) begin += sizeof pad;
	if (end - begin >= (ptrdiff_t)sizeof pad && is_pad(end - sizeof pad, end)) end -= sizeof pad;
	if (begin >= end) return;
	uint32_t need = ((uint32_t)(end - begin) + TEASEL_LINE - 1) & ~(uint32_t)(TEASEL_LINE - 1);
	if (region_count == REGIONS || (SHARED.attached && counter_count + need > SHARED.capacity)) {
		if (SHARED.attached) __atomic_add_fetch(&SHARED.results->uncounted, need, __ATOMIC_RELAXED);
		return;
	}
	struct region *r = regions + region_count++;
	*r = (struct region){begin, end, outer, outer_end, counter_count, 0};
	counter_count += need;
	edge_count += (uint32_t)(end - begin);
	shape = hash_mix(shape, (uint64_t)(end - begin));
	if (segment_base) segment_region(r);
}

// The flags in the table tell which blocks begin a function, which, unlike the addresses, does not depend on hooks.
void __sanitizer_cov_pcs_init(const uintptr_t *begin, const uintptr_t *end) {
	uint64_t bits = 0, n = 0;
	for (const uintptr_t *p = begin; p + 1 < end; p += 2) {
		bits = bits << 1 | (p[1] & 1);
		if (++n % 64 == 0) shape = hash_mix(shape, bits);
	}
	shape = hash_mix(shape, bits ^ n << 32);
	if (region_count && (uint64_t)(regions[region_count - 1].end - regions[region_count - 1].begin) == n)
		regions[region_count - 1].pc_table = begin; // a module announces its counters first
}

// call_count returns the 8-bit counter of a function's entry, or -1 if it is unknown.
static int call_count(uintptr_t function) {
	for (uint32_t k = 0; k < region_count; k++) {
		const uintptr_t *p = regions[k].pc_table;
		for (ptrdiff_t i = 0; p && i < regions[k].end - regions[k].begin; i++)
			if (p[2 * i] == function && p[2 * i + 1] & 1) return regions[k].begin[i];
	}
	return -1;
}

// buckets classifies two counters at a time.
static uint16_t buckets[65536];

static uint8_t bucket(unsigned n) {
	return n < 3 ? n : n == 3 ? 4 : n < 8 ? 8 : n < 16 ? 16 : n < 32 ? 32 : n < 128 ? 64 : 128;
}

static void buckets_init(void) {
	for (unsigned i = 0; i < 65536; i++) buckets[i] = (uint16_t)(bucket(i >> 8) << 8 | bucket(i & 255));
}

static inline uint64_t classify(uint64_t w) {
	if (!(w & 0xfefefefefefefefeu)) return w; // the common case: no counter is above 1
	return (uint64_t)buckets[w & 65535] | (uint64_t)buckets[w >> 16 & 65535] << 16 |
	       (uint64_t)buckets[w >> 32 & 65535] << 32 | (uint64_t)buckets[w >> 48] << 48;
}

// Results of string comparisons are counted as well, since they may not lead to different edges. Each call site, together with
// each string constant that it compares, has one counter for equal strings and one for different strings, neither empty.
static struct {
	uint8_t counts[TEASEL_TEXTS];
	uint64_t touched; // a bit for each line of counts with a counter that is not 0
} texts __attribute__((aligned(TEASEL_PAGE)));

extern const char __executable_start[] __attribute__((weak, visibility("hidden")));
extern const char _end[] __attribute__((weak, visibility("hidden")));

// program_offset returns the offset of an address in the program, which is the same in every process, and 0 if the address lies
// outside of the program.
static inline uint64_t program_offset(const void *p) {
	uintptr_t at = (uintptr_t)p - (uintptr_t)__executable_start;
	return at < (uintptr_t)_end - (uintptr_t)__executable_start ? at : 0;
}

static inline void text_mark(const void *caller, const void *a, const void *b, int equal) {
	uint64_t site = program_offset(caller);
	if (!site) return;
	uint32_t i = (uint32_t)(hash_mix(hash_mix(hash_mix(site, program_offset(a)), program_offset(b)), (uint64_t)equal) >> 32) % TEASEL_TEXTS;
	uint64_t line = (uint64_t)1 << i / TEASEL_LINE;
	texts.counts[i] = 1;
	if (!(texts.touched & line)) __atomic_fetch_or(&texts.touched, line, __ATOMIC_RELAXED); // there may be threads
}

static void counters_clear(void) {
	__builtin_memset(texts.counts, 0, sizeof texts.counts);
	texts.touched = 0;
	for (uint32_t i = 0; i < region_count; i++)
		__builtin_memset(regions[i].begin, 0, (size_t)(regions[i].end - regions[i].begin));
}

// The maps of known features are in the results: virgin has a bit for each unknown feature; shortest has, for each known feature,
// the length of the shortest input that reaches it; max_len has, for eight counters each, the maximum of those lengths: an
// input that is at least as long is not the shortest for any of their features. teasel keeps copies, which it computes from the
// reported features. A feature therefore becomes known only if the table has room to report it.

static int feature_room(uint32_t n) { return SHARED.results->features_used <= SHARED.feature_count - n; }

static void feature_add(struct outcome *o, uint32_t f) {
	if (!feature_room(1)) return;
	SHARED.features[SHARED.results->features_used++] = f;
	o->feature_count++;
}

struct tally {
	uint64_t hash, work;
};

// The arguments of judge_word.
struct run {
	struct outcome *outcome;
	uint32_t length, ask;
	struct tally tally;
};

enum { WORD_FEATURES = 64 }; // number of features of eight counters

// mark_new marks, and reports, those features of eight counters that are new or were only known from longer inputs. There may be
// none.
static __attribute__((noinline, cold)) void mark_new(struct run *r, uint64_t w, uint32_t at, int report) {
	uint8_t *virgin = SHARED.virgin;
	uint16_t *shortest = SHARED.shortest;
	uint16_t length = r->length < UINT16_MAX ? (uint16_t)r->length : UINT16_MAX;
	int changed = 0;
	if (!feature_room(report ? WORD_FEATURES : 0)) return;
	for (uint32_t i = at; w; i++, w >>= 8) {
		uint8_t b = (uint8_t)w;
		if (!b) continue;
		uint32_t f = i * 8 + (uint32_t)__builtin_ctz(b);
		if (virgin[i] & b)
			virgin[i] &= (uint8_t)~b;
		else if (length >= shortest[f])
			continue;
		shortest[f] = length;
		changed = 1;
		if (report) feature_add(r->outcome, f);
	}
	if (!changed) return; // max_len is the length of another feature of these counters
	uint16_t most = 0;
	for (uint32_t f = at * 8; f < at * 8 + WORD_FEATURES; f++)
		if (!(virgin[f / 8] >> f % 8 & 1) && shortest[f] > most) most = shortest[f];
	SHARED.max_len[at / 8] = most;
}

// judge_word judges eight counters.
static inline void judge_word(struct run *r, uint64_t raw, uint32_t at, uint32_t ask) {
	uint64_t w = classify(raw), known;
	if (ask & ASK_TRACE) {
		r->tally.hash = hash_mix(r->tally.hash ^ (uint64_t)at << 32, w);
		for (uint64_t n = raw; n; n >>= 8) r->tally.work += n & 255;
	}
	if (ask & ASK_FEATURES) {
		if (!feature_room(WORD_FEATURES)) return;
		for (uint64_t n = w, i = at; n; i++, n >>= 8)
			if (n & 255) feature_add(r->outcome, (uint32_t)(i * 8) + (uint32_t)__builtin_ctz((unsigned)(n & 255)));
	}
	if (ask & ASK_QUIET) return;
	__builtin_memcpy(&known, SHARED.virgin + at, 8);
	if (__builtin_expect((w & known) != 0 || r->length < SHARED.max_len[at / 8], 0)) mark_new(r, w, at, !(ask & ASK_FEATURES));
}

// scan judges all counters, in order, and sets them to zero. ask is a constant where scan is inlined.
static inline __attribute__((always_inline)) void scan(struct run *r, uint32_t ask) {
	for (; texts.touched; texts.touched &= texts.touched - 1) {
		uint32_t at = (uint32_t)__builtin_ctzll(texts.touched) * TEASEL_LINE;
		for (uint32_t j = at; j < at + TEASEL_LINE; j += 8) {
			uint64_t w;
			__builtin_memcpy(&w, texts.counts + j, 8);
			if (w) judge_word(r, w, j, ask);
		}
		__builtin_memset(texts.counts + at, 0, TEASEL_LINE);
	}
	for (uint32_t k = 0; k < region_count; k++) {
		uint8_t *p = regions[k].begin, *end = regions[k].end;
		uint32_t at = regions[k].at;
		for (; p + TEASEL_LINE <= end; p += TEASEL_LINE, at += TEASEL_LINE) {
			uint64_t w[TEASEL_LINE / 8];
			__builtin_memcpy(w, p, TEASEL_LINE);
			if (!(w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7])) continue;
			__builtin_memset(p, 0, TEASEL_LINE);
			for (uint32_t j = 0; j < TEASEL_LINE / 8; j++)
				if (w[j]) judge_word(r, w[j], at + j * 8, ask);
		}
		for (; p < end; p += 8, at += 8) {
			size_t n = end - p < 8 ? (size_t)(end - p) : 8;
			uint64_t w = 0;
			for (size_t j = 0; j < n; j++) {
				w |= (uint64_t)p[j] << 8 * j;
				p[j] = 0;
			}
			if (w) judge_word(r, w, at, ask);
		}
	}
}

static __attribute__((noinline)) void scan_new(struct run *r) { scan(r, 0); }
static __attribute__((noinline)) void scan_quiet(struct run *r) { scan(r, ASK_QUIET); }
static __attribute__((noinline)) void scan_all(struct run *r) { scan(r, r->ask); }

// judge fills in the outcome of a run of slot i: its new features, and whatever else was asked for.
static void judge(uint32_t i, uint32_t ask) {
	struct outcome *o = SHARED.outcomes + i;
	struct run r = {o, SHARED.slots[i].length, ask, {1, 0}};
	o->feature_first = SHARED.results->features_used;
	switch (ask & (ASK_FEATURES | ASK_TRACE | ASK_QUIET)) {
	case 0:
		scan_new(&r);
		break;
	case ASK_QUIET:
		scan_quiet(&r);
		break;
	default:
		scan_all(&r);
	}
	o->trace = r.tally.hash;
	o->work = r.tally.work;
}
