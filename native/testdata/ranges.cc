// Numbers in ranges, which the harness takes from the end of its input.
#include <fuzzer/FuzzedDataProvider.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	FuzzedDataProvider in(data, size);
	int port = in.ConsumeIntegralInRange<int>(1024, 65000);
	long long account = in.ConsumeIntegralInRange<long long>(-5000000000, 5000000000);
	unsigned short year = in.ConsumeIntegralInRange<unsigned short>(1970, 2999);
	if (port != 31337) return 0;
	if (account != -4123456789) return 0;
	if (year == 2038 && in.ConsumeIntegral<unsigned>() == 0xfeedf00d) __builtin_trap();
	return 0;
}
