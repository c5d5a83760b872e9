// A switch over a big endian number, one case of which contains a switch over a small number.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	if (size < 16) return 0;
	uint32_t kind = (uint32_t)data[4] << 24 | (uint32_t)data[5] << 16 | (uint32_t)data[6] << 8 | data[7];
	uint16_t part = (uint16_t)(data[1] << 8 | data[0]);
	switch (kind) {
	case 0x49484452: return 1 - 1;
	case 0x504c5445: return 2 - 2;
	case 0x74524e53:
		switch (part) {
		case 0x1f8b: return 0;
		case 0xcafe: __builtin_trap();
		}
	}
	return 0;
}
