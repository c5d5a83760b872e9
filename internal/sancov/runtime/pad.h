// Padding at either end of a module's counters, one page each, which the first and the last linked object provide. It ensures
// that no other variables are on the pages of the counters. Padding is recognised by its first bytes.

#define PAD_TEXT "teasel: no counters here"

#define PAD(name)                                                                                               \
	__attribute__((used, section("__sancov_cntrs"), aligned(1))) static uint8_t name[4096] = PAD_TEXT
