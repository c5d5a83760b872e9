// A program that insists on the names of its files.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int first(const char *path, const char *end) {
	if (strlen(path) < strlen(end) || strcmp(path + strlen(path) - strlen(end), end)) return -1;
	FILE *f = fopen(path, "rb");
	if (!f) return -1;
	int c = fgetc(f);
	fclose(f);
	return c;
}
int main(int argc, char **argv) {
	if (first(argv[1], ".png") != 'x' || first(argv[2] + 5, "conf.d/input.conf") != 'x') return 1;
	abort();
}
