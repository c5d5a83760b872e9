// A harness may have its own mutator, LLVMFuzzerCustomMutator, and its own crossover of two inputs, LLVMFuzzerCustomCrossOver.
// They are called in the child, in batches, with seeds from teasel.

// Defined in teasel_driver.c, 0 where the harness has none.
extern size_t (*const teasel_mutator)(uint8_t *, size_t, size_t, unsigned) __attribute__((weak));
extern size_t (*const teasel_crossover)(const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *, size_t, unsigned) __attribute__((weak));
void teasel_mutate_begin(uint64_t seed, const uint8_t *token, size_t size) __attribute__((weak));

static uint32_t custom_flags(void) {
	return (&teasel_mutator && teasel_mutator ? HELLO_MUTATOR : 0) | (&teasel_crossover && teasel_crossover ? HELLO_CROSSOVER : 0);
}

// mutate makes one mutant. The harness writes to allocated memory of exactly the permitted size, so that a sanitizer detects an
// overflow.
static void mutate(const struct mutation *m, struct outcome *o) {
	size_t size = m->length, room = m->max_length ? m->max_length : 1;
	uint8_t *data = malloc(room);
	const uint8_t *in = SHARED.inputs + m->offset, *with = SHARED.inputs + m->with;
	if (!data) abort();
	if (m->cross_over) {
		initialised(data, m->max_length);
		parameters_initialised(7);
		size = teasel_crossover(in, size, with, m->with_length, data, m->max_length, m->seed);
	} else {
		__builtin_memcpy(data, in, size);
		teasel_mutate_begin(m->seed, with, m->with_length);
		for (uint32_t i = 0; i < m->times && size <= m->max_length; i++) {
			initialised(data, size);
			parameters_initialised(4);
			size = teasel_mutator(data, size, m->max_length, m->seed + i);
		}
	}
	if (size <= m->max_length) __builtin_memcpy(SHARED.outputs + m->output, data, size);
	o->length = size <= m->max_length ? (uint32_t)size : TEASEL_MUTANT_TOO_LONG;
	free(data);
}

static void mutate_batch(uint32_t from, uint32_t n) {
	running = 1;
	for (uint32_t i = from; i < n; i++) {
		__atomic_store_n(&SHARED.results->cur, i, __ATOMIC_RELAXED);
		mutate(SHARED.mutations + i, SHARED.outcomes + i);
	}
	running = 0;
	counters_clear(); // edges in mutators do not count as coverage
}
