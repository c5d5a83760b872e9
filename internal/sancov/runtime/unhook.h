// A program is built once, with comparison hooks. Where nothing is recorded they only cost time, so that the server whose children
// run most of the inputs overwrites the calls with no-op instructions. teasel finds the calls by the linker's relocations; unhook
// verifies that each is a call of a hook.

static int is_hook(uintptr_t p) {
	static void *const hooks[] = {
		(void *)__sanitizer_cov_trace_cmp1, (void *)__sanitizer_cov_trace_const_cmp1,
		(void *)__sanitizer_cov_trace_cmp2, (void *)__sanitizer_cov_trace_const_cmp2,
		(void *)__sanitizer_cov_trace_cmp4, (void *)__sanitizer_cov_trace_const_cmp4,
		(void *)__sanitizer_cov_trace_cmp8, (void *)__sanitizer_cov_trace_const_cmp8,
		(void *)__sanitizer_cov_trace_switch,
	};
	for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
		if ((uintptr_t)hooks[i] == p) return 1;
	return 0;
}

// unhook overwrites calls. The addresses are those of the calls' operands, as assigned by the linker. It returns the number of
// calls that were overwritten.
static uint32_t unhook(const uint64_t *addresses, uint32_t count) {
	uint32_t done = 0;
#if defined(__x86_64__)
	static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = UINTPTR_MAX, last = 0;
	// In a position-independent program the addresses are relative to its beginning.
	uintptr_t base = *(const uint16_t *)(__executable_start + 16) == 3 ? (uintptr_t)__executable_start : 0;
	for (uint32_t i = 0; i < count; i++) {
		uintptr_t p = base + addresses[i];
		first = p - 1 < first ? p - 1 : first;
		last = p + 4 > last ? p + 4 : last;
	}
	if (!count || !__executable_start) return 0;
	first &= ~(page - 1);
	last = (last + page - 1) & ~(page - 1);
	if (mprotect((void *)first, last - first, PROT_READ | PROT_WRITE | PROT_EXEC)) return 0;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t *call = (uint8_t *)(base + addresses[i] - 1);
		int32_t distance;
		__builtin_memcpy(&distance, call + 1, 4);
		if (*call != 0xe8 || !is_hook((uintptr_t)call + 5 + (uintptr_t)(intptr_t)distance)) continue;
		__builtin_memcpy(call, nop, sizeof nop);
		done++;
	}
	mprotect((void *)first, last - first, PROT_READ | PROT_EXEC);
#else
	(void)addresses, (void)count;
#endif
	return done;
}
