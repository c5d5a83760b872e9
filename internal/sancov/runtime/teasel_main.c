// The main of a harness that has none. Run by hand it runs the files that it is given, or standard input: that is how a
// finding is shown without teasel.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

extern int (*const teasel_harness)(const uint8_t *, size_t);
extern int (*const teasel_initialize)(int *, char ***);
int (*const teasel_harness)(const uint8_t *, size_t) = LLVMFuzzerTestOneInput;
int (*const teasel_initialize)(int *, char ***) = LLVMFuzzerInitialize;

static int run(FILE *f, const char *name) {
	size_t n = 0, room = 4096;
	uint8_t *p = malloc(room);
	while (p) {
		size_t got = fread(p + n, 1, room - n, f);
		if (!got) break;
		if ((n += got) < room) continue;
		uint8_t *more = realloc(p, room *= 2);
		if (!more) free(p);
		p = more;
	}
	uint8_t *in = p ? malloc(n ? n : 1) : 0; // of the exact size, for a sanitizer to see its end
	if (!in || ferror(f)) {
		free(p);
		fprintf(stderr, "%s: cannot be read\n", name);
		return 2;
	}
	memcpy(in, p, n);
	free(p);
	LLVMFuzzerTestOneInput(in, n);
	free(in);
	fprintf(stderr, "%s: %zu bytes, no crash\n", name, n);
	return 0;
}

int main(int argc, char **argv) {
	int status = 0;
	if (LLVMFuzzerInitialize) LLVMFuzzerInitialize(&argc, &argv);
	if (argc < 2) return run(stdin, "standard input");
	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		if (!f) {
			perror(argv[i]);
			status = 2;
			continue;
		}
		if (run(f, argv[i])) status = 2;
		fclose(f);
	}
	return status;
}
