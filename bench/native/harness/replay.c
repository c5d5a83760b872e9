// Runs the harness on every file of a folder, for clang's source coverage.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name) {
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	if (!f) return 0;
	uint8_t *data = malloc(1 << 20);
	size_t size = fread(data, 1, 1 << 20, f);
	fclose(f);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 1;
}

int main(int argc, char **argv) {
	DIR *d = argc == 2 ? opendir(argv[1]) : NULL;
	if (!d) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 2;
	}
	int n = 0;
	for (struct dirent *e; (e = readdir(d));)
		if (e->d_type == DT_REG) n += replay(argv[1], e->d_name);
	closedir(d);
	printf("%d\n", n);
	return 0;
}
