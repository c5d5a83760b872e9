// The smallest harness: a function that hands the bytes to the code under test.
//
//	teasel cc -g -O1 -fsanitize=fuzzer,address record.c harness.c -o harness
//	teasel native -- ./harness
#include "record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	name_length(data, size);
	return 0;
}
