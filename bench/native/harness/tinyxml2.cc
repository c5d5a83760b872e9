// Reads a document and writes it again.
#include <stddef.h>
#include <stdint.h>
#include <tinyxml2.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	tinyxml2::XMLDocument document;
	if (document.Parse(reinterpret_cast<const char *>(data), size) == tinyxml2::XML_SUCCESS) {
		tinyxml2::XMLPrinter printer;
		document.Print(&printer);
	}
	return 0;
}
