// At either end of a module's counters there is a page's worth of bytes that nobody counts in, first and last in what is
// linked, so that the pages of the counters have nothing else on them. They are known by how they begin.

#define PAD_TEXT "teasel: no counters here"

#define PAD(name)                                                                                               \
	__attribute__((used, section("__sancov_cntrs"), aligned(1))) static uint8_t name[4096] = PAD_TEXT
