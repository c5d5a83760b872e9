// A section name determines how keys in later lines are looked up.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	char *text = malloc(size + 1), section[32] = "", *save = 0;
	memcpy(text, data, size);
	text[size] = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(0, "\n", &save)) {
		char *end = strchr(line, line[0] == '[' ? ']' : '=');
		if (!end) continue;
		*end = 0;
		if (line[0] == '[') {
			section[0] = 0;
			strncat(section, line + 1, sizeof section - 1);
		} else if (!strcmp(section, "window") && !strcmp(line, "opacity")) {
			__builtin_trap();
		}
	}
	free(text);
	return 0;
}
