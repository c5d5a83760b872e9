// A harness that takes an operation and its operands from the input, computes, and compares the result.
#include <fuzzer/FuzzedDataProvider.h>

static int transfers;

static int withdraw(FuzzedDataProvider &in) {
	unsigned balance = in.ConsumeIntegralInRange<unsigned>(0, 90000), limit = in.ConsumeIntegral<uint16_t>() / 4 * 3;
	if (balance - limit != 12345) return 0;
	transfers++;
	if (in.ConsumeIntegralInRange<int64_t>(-700000, 700000) * 60 + 17 == -20555983) __builtin_trap();
	return 1;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	FuzzedDataProvider in(data, size);
	switch (in.ConsumeIntegralInRange(0, 6)) {
	case 2:
		transfers -= in.ConsumeBool();
		break;
	case 5:
		if (in.ConsumeIntegralInRange<unsigned>(1000, 999999) + 7 == 314159) return withdraw(in);
		break;
	default:
		transfers = in.ConsumeIntegralInRange(1, 9);
	}
	return 0;
}
