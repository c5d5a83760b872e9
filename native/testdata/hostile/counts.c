// A thread overwrites the counts at the beginning of each shared mapping as long as the process lives.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static volatile uint32_t *counts[8];
static int count;

static void *overwrite(void *unused) {
	for (;;)
		for (int i = 0; i < count; i++)
			for (int k = 0; k < 32; k++) counts[i][k] = 0x7fffffff;
	return unused;
}

int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 2 || d[0] != 'Z' || count) return 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long from, to;
	while (count < 8 && fgets(line, sizeof line, maps))
		if (sscanf(line, "%lx-%lx", &from, &to) == 2 && strstr(line, " rw-s ")) counts[count++] = (volatile uint32_t *)from;
	fclose(maps);
	pthread_t t;
	if (count && pthread_create(&t, 0, overwrite, 0) == 0) pthread_detach(t);
	return 0;
}
