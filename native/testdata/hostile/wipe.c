// Overwrites all shared writable memory, in a pattern that the input selects.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n > 5 && !memcmp(d, "wipe", 4)) {
		FILE *maps = fopen("/proc/self/maps", "r");
		char line[512], rights[8];
		unsigned long from, to;
		while (maps && fgets(line, sizeof line, maps)) {
			if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || rights[1] != 'w' || rights[3] != 's') continue;
			unsigned long size = to - from < 1 << 24 ? to - from : 1 << 24;
			for (unsigned long i = 0; i < size; i += 8)
				*(uint64_t *)(from + i) = d[5] & 1 ? d[4] * 0x0101010101010101u : d[4] * 0x0101010101010101u ^ i;
		}
		if (maps) fclose(maps);
	}
	if (n > 5 && !memcmp(d, "BUGGY", 5)) abort();
	return 0;
}
