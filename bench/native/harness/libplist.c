// Reads a property list, binary or XML, and writes it in the other format.
#include <plist/plist.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	const char *text = (const char *)data;
	plist_t list = NULL;
	plist_from_memory(text, (uint32_t)size, &list);
	if (list) {
		char *out = NULL;
		uint32_t length = 0;
		if (plist_is_binary(text, (uint32_t)size)) {
			plist_to_xml(list, &out, &length);
			plist_to_xml_free(out);
		} else {
			plist_to_bin(list, &out, &length);
			plist_to_bin_free(out);
		}
		plist_free(list);
	}
	return 0;
}
