// Parses a text and writes it again.
#include <json.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct json_tokener *t = json_tokener_new();
	if (!t) return 0;
	struct json_object *o = json_tokener_parse_ex(t, (const char *)data, (int)size);
	if (o) {
		json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
		json_object_put(o);
	}
	json_tokener_free(t);
	return 0;
}
