// A command that is looked up in a map of strings, and an argument that is compared with a string: both comparisons are in C++'s
// library, which was not compiled for fuzzing.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

static const std::map<std::string, int> commands = {
	{"compress", 2}, {"decode-base64", 3}, {"export", 6}, {"list-keys", 5}, {"quit", 4}, {"verify-signature", 1},
};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	std::string line((const char *)data, size);
	size_t colon = line.find(':');
	if (colon == std::string::npos) return 0;
	auto command = commands.find(line.substr(0, colon));
	if (command == commands.end() || command->second != 1) return 0;
	if (line.substr(colon + 1) == "detached") __builtin_trap();
	return 0;
}
