// A harness that knows a format may bring its own mutator, and its own crossing of two inputs. They are called in the child, a
// batch at a time, with what randomness teasel gives them.

// Defined in teasel_main.c, 0 where the harness has none.
extern size_t (*const teasel_mutator)(uint8_t *, size_t, size_t, unsigned) __attribute__((weak));
extern size_t (*const teasel_crosser)(const uint8_t *, size_t, const uint8_t *, size_t, uint8_t *, size_t, unsigned) __attribute__((weak));
void teasel_mutate_begin(uint64_t seed, const uint8_t *token, size_t size) __attribute__((weak));

static uint32_t custom_flags(void) {
	return (&teasel_mutator && teasel_mutator ? HELLO_MUTATOR : 0) | (&teasel_crosser && teasel_crosser ? HELLO_CROSSER : 0);
}

// mutate makes one mutant. The harness gets memory of its own of the size that it may fill, so that a sanitizer sees when it
// does more.
static void mutate(const struct mutation *m, struct outcome *o) {
	size_t size = m->length, room = m->most ? m->most : 1;
	uint8_t *data = malloc(room);
	const uint8_t *in = AT.inputs + m->offset, *with = AT.inputs + m->with;
	if (!data) abort();
	if (m->crosses) {
		initialised(data, m->most);
		parameters_initialised(7);
		size = teasel_crosser(in, size, with, m->with_length, data, m->most, m->seed);
	} else {
		__builtin_memcpy(data, in, size);
		teasel_mutate_begin(m->seed, with, m->with_length);
		for (uint32_t i = 0; i < m->times && size <= m->most; i++) {
			initialised(data, size);
			parameters_initialised(4);
			size = teasel_mutator(data, size, m->most, m->seed + i);
		}
	}
	if (size <= m->most) __builtin_memcpy(AT.outputs + m->output, data, size);
	o->length = size <= m->most ? (uint32_t)size : TEASEL_TOO_LONG;
	free(data);
}

static void mutate_batch(uint32_t from, uint32_t n) {
	running = 1;
	for (uint32_t i = from; i < n; i++) {
		__atomic_store_n(&AT.results->cur, i, __ATOMIC_RELAXED);
		mutate(AT.mutations + i, AT.outcomes + i);
	}
	running = 0;
	counters_clear(); // what mutators reach is no coverage of the target
}
