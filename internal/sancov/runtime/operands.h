// Recording of comparisons: the hooks of -fsanitize-coverage=trace-cmp, and the comparison functions of the C library through the
// linker's --wrap. The site of a record is the return address relative to the beginning of the program.

// These variables are alone on their pages, so that pages of a segment can replace them.
static union {
	uint32_t recording; // 0: hooks return immediately
	uint8_t page[TEASEL_PAGE];
} recorder __attribute__((aligned(TEASEL_PAGE)));
static uint8_t site_count[TEASEL_SITES] __attribute__((aligned(TEASEL_PAGE)));

#define recording (recorder.recording)

#define SITE ((uint32_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)__executable_start))
#define NOT_RECORDING __builtin_expect(!recording, 1)

// operand_add returns a new record, and 0 if the table is full or the site is not to be recorded. Several threads may call it
// concurrently.
static struct operand *operand_add(uint32_t site, uint32_t limit) {
	uint32_t k = (site * 0x9e3779b1u) >> 16;
	if (SHARED.control->watching) {
		if (!(SHARED.watched[k / 8] >> k % 8 & 1)) return 0;
		if (SHARED.control->watching == 1 && limit < TEASEL_WATCH_LIMIT) limit = TEASEL_WATCH_LIMIT;
	}
	uint32_t *used = &SHARED.results->operands_used;
	if (site_count[k] >= limit || __atomic_load_n(used, __ATOMIC_RELAXED) >= SHARED.operand_count) return 0;
	uint32_t i = __atomic_fetch_add(used, 1, __ATOMIC_RELAXED);
	if (i >= SHARED.operand_count) return 0;
	if (site_count[k] < 255) site_count[k]++;
	struct operand *o = SHARED.operands + i;
	*o = (struct operand){.site = site ? site : 1};
	return o;
}

static __attribute__((noinline, cold)) void teasel_number(uint32_t site, unsigned size, unsigned flags, uint64_t a, uint64_t b,
                                                   uint32_t limit) {
	struct operand *o = operand_add(site, limit);
	if (!o) return;
	o->flags = (uint8_t)(flags | (a == b ? OPERAND_EQUAL : 0));
	o->size = (uint8_t)size;
	o->a_length = o->b_length = (uint8_t)size;
	__builtin_memcpy(o->a, &a, 8);
	__builtin_memcpy(o->b, &b, 8);
}

static __attribute__((noinline, cold)) void teasel_text(uint32_t site, const void *a, size_t an, const void *b, size_t bn, int equal) {
	struct operand *o = operand_add(site, TEASEL_SITE_LIMIT);
	if (!o) return;
	an = an < TEASEL_TEXT ? an : TEASEL_TEXT;
	bn = bn < TEASEL_TEXT ? bn : TEASEL_TEXT;
	o->flags = OPERAND_TEXT | (equal ? OPERAND_EQUAL : 0);
	o->a_length = (uint8_t)an;
	o->b_length = (uint8_t)bn;
	for (size_t i = 0; i < an; i++) o->a[i] = ((const uint8_t *)a)[i];
	for (size_t i = 0; i < bn; i++) o->b[i] = ((const uint8_t *)b)[i];
}

#define HOOK(bits, size)                                                                                        \
	void __sanitizer_cov_trace_cmp##size(uint##bits##_t a, uint##bits##_t b) {                                 \
		if (!NOT_RECORDING) teasel_number(SITE, size, 0, a, b, TEASEL_SITE_LIMIT);                                             \
	}                                                                                                          \
	void __sanitizer_cov_trace_const_cmp##size(uint##bits##_t a, uint##bits##_t b) {                           \
		if (!NOT_RECORDING) teasel_number(SITE, size, OPERAND_CONST, a, b, TEASEL_SITE_LIMIT);                                 \
	}
HOOK(8, 1)
HOOK(16, 2)
HOOK(32, 4)
HOOK(64, 8)

// cases[0] is the number of cases, cases[1] the width of the value in bits; the values of the cases follow.
void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases) {
	if (NOT_RECORDING) return;
	uint32_t site = SITE;
	uint64_t n = cases[0] < TEASEL_CASE_LIMIT ? cases[0] : TEASEL_CASE_LIMIT;
	if (site_count[(site * 0x9e3779b1u) >> 16] >= TEASEL_SWITCH_LIMIT) return;
	uint8_t before = site_count[(site * 0x9e3779b1u) >> 16];
	for (uint64_t i = 0; i < n; i++)
		teasel_number(site, (unsigned)(cases[1] / 8), OPERAND_CONST | OPERAND_SWITCH, cases[2 + i], value, 255);
	site_count[(site * 0x9e3779b1u) >> 16] = (uint8_t)(before + 1);
}

void __sanitizer_cov_trace_div4(uint32_t v) { (void)v; }
void __sanitizer_cov_trace_div8(uint64_t v) { (void)v; }
void __sanitizer_cov_trace_gep(uintptr_t v) { (void)v; }

// length returns the length of a string, at most the limit. It does not read beyond the page on which the string begins: the
// compared string need not be terminated if the real function has stopped at a difference.
static size_t length(const char *s, size_t most) {
	size_t n = 0;
	while (n < most && n < TEASEL_TEXT && s[n]) {
		n++;
		if (((uintptr_t)(s + n) & 4095) == 0) break;
	}
	return n;
}

void *_Znwm(size_t) __attribute__((weak)); // operator new: defined if C++'s library is linked

// teasel_bytes records a comparison of n bytes. C++'s library compares strings of different lengths up to the length of the
// shorter one, which may be a or b. Its strings end with a zero, so that each of them is also recorded in its full length.
static void teasel_bytes(uint32_t site, const void *a, const void *b, size_t n, int equal) {
	teasel_text(site, a, n, b, n, equal);
	if (!_Znwm) return;
	size_t an = length(a, TEASEL_TEXT), bn = length(b, TEASEL_TEXT);
	if (bn > n) teasel_text(site, a, n, b, bn, 0);
	if (an > n) teasel_text(site, a, an, b, n, 0);
}

static int wrapped; // not 0 within a wrapped call, which a sanitizer's interceptor must not record again

#define WRAP(name, params, args, filled, record)                                                                \
	int __real_##name params;                                                                                  \
	int __wrap_##name params {                                                                                 \
		wrapped = 1;                                                                                           \
		int r = __real_##name args;                                                                            \
		wrapped = 0;                                                                                           \
		if (filled) text_mark(__builtin_return_address(0), a, b, r == 0);                                       \
		if (!NOT_RECORDING) record;                                                                                     \
		return r;                                                                                              \
	}
#define BYTES teasel_bytes(SITE, a, b, n, r == 0)
#define TEXT(most) teasel_text(SITE, a, length(a, most), b, length(b, most), r == 0)
WRAP(memcmp, (const void *a, const void *b, size_t n), (a, b, n), n, BYTES)
WRAP(bcmp, (const void *a, const void *b, size_t n), (a, b, n), n, BYTES)
WRAP(strcmp, (const char *a, const char *b), (a, b), *a && *b, TEXT(TEASEL_TEXT))
WRAP(strcasecmp, (const char *a, const char *b), (a, b), *a && *b, TEXT(TEASEL_TEXT))
WRAP(strncmp, (const char *a, const char *b, size_t n), (a, b, n), n && *a && *b, TEXT(n))
WRAP(strncasecmp, (const char *a, const char *b, size_t n), (a, b, n), n && *a && *b, TEXT(n))

// library_site returns the site of a call in a library that was not compiled for fuzzing, from the part of the address that does
// not depend on where the library is loaded.
static uint32_t library_site(const void *pc) { return 0x80000000u | ((uint32_t)(uintptr_t)pc & (TEASEL_PAGE - 1)); }

// Sanitizers call these functions for comparisons in libraries that were not compiled for fuzzing, such as C++'s. In a program
// without a sanitizer, teasel_compare.c calls them.
#define INTERCEPTED(name)                                                                                       \
	void __sanitizer_weak_hook_##name(void *pc, const void *a, const void *b, size_t n, int r) {               \
		if (!NOT_RECORDING && !wrapped) teasel_bytes(library_site(pc), a, b, n, r == 0);                                \
	}
INTERCEPTED(memcmp)
INTERCEPTED(bcmp)

void __sanitizer_weak_hook_strcmp(void *pc, const char *a, const char *b, int r) {
	if (!NOT_RECORDING && !wrapped) teasel_text(library_site(pc), a, length(a, TEASEL_TEXT), b, length(b, TEASEL_TEXT), r == 0);
}

void __sanitizer_weak_hook_strncmp(void *pc, const char *a, const char *b, size_t n, int r) {
	if (!NOT_RECORDING && !wrapped) teasel_text(library_site(pc), a, length(a, n), b, length(b, n), r == 0);
}

void *__real_memmem(const void *a, size_t an, const void *b, size_t bn);
void *__wrap_memmem(const void *a, size_t an, const void *b, size_t bn) {
	void *r = __real_memmem(a, an, b, bn);
	if (an && bn) text_mark(__builtin_return_address(0), a, b, r != 0);
	if (!NOT_RECORDING) teasel_text(SITE, a, an < bn ? an : bn, b, bn, r != 0);
	return r;
}

char *__real_strstr(const char *a, const char *b);
char *__wrap_strstr(const char *a, const char *b) {
	char *r = __real_strstr(a, b);
	if (*a && *b) text_mark(__builtin_return_address(0), a, b, r != 0);
	if (!NOT_RECORDING) teasel_text(SITE, a, length(a, TEASEL_TEXT), b, length(b, TEASEL_TEXT), r != 0);
	return r;
}

static uint32_t operands_used(void) {
	uint32_t n = __atomic_load_n(&SHARED.results->operands_used, __ATOMIC_RELAXED);
	return n < SHARED.operand_count ? n : SHARED.operand_count;
}

static void record_begin(struct outcome *o) {
	__builtin_memset(site_count, 0, sizeof site_count);
	o->operand_first = operands_used();
	recording = 1;
}

static void record_end(struct outcome *o) {
	recording = 0;
	o->operand_count = operands_used() - o->operand_first;
}
