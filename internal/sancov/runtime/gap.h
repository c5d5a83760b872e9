// A gap in the stack between the harness and who calls it, so that a harness that writes beyond its arrays, and over the
// redzones that AddressSanitizer puts around them, neither does so unseen nor damages the caller, which would crash in its
// place. AddressSanitizer guards the gap like its redzones; without it a part is looked at after every run.

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

// The same since LLVM 4.
void __asan_get_shadow_mapping(size_t *scale, size_t *offset) __attribute__((weak));
void __asan_set_shadow_00(uintptr_t shadow, size_t size) __attribute__((weak));
void __asan_set_shadow_f3(uintptr_t shadow, size_t size) __attribute__((weak)); // a redzone to the right of a variable

enum { GAP = 1 << 16, GAP_LOOKED_AT = 1 << 8 }; // bytes
static const uint64_t gap_filling = 0x9e3779b97f4a7c15;

// gap_size is what to hand to alloca, which has to be in the function that calls the harness: what it returns is then the
// bottom of that function's frame. The compiler would put an array of known size anywhere in it.
static volatile size_t gap_size = GAP;

static volatile const uint8_t *gap_shadow; // of its beginning; 0: there is no AddressSanitizer

static void gap_shade(const uint64_t *gap, void (*set)(uintptr_t shadow, size_t size)) {
	size_t scale, offset;
	if (!__asan_get_shadow_mapping || !set) return;
	__asan_get_shadow_mapping(&scale, &offset);
	uintptr_t from = (uintptr_t)gap, to = from + GAP;
	gap_shadow = (uint8_t *)((from >> scale) + offset);
#if defined(__x86_64__)
	from -= sizeof from; // where the harness is to return to
#endif
	set((from >> scale) + offset, (to - from) >> scale);
}

// Below the gap the harness has the address that it returns to.
static const uint64_t *volatile gap_used; // while the harness runs; 0: it does not
static volatile uint64_t gap_unshared, *gap_return = &gap_unshared; // what that was when a run was over, 0: unknown; of all children
static uint64_t gap_expected; // the same, as an earlier child has left it; 0: unknown

extern const char __executable_start[] __attribute__((weak, visibility("hidden")));
extern const char etext[] __attribute__((weak));

// gap_plausible reports whether the program may return to an address: a child may have left anything.
static inline int gap_plausible(uint64_t address) {
	return address > (uint64_t)(uintptr_t)__executable_start && address < (uint64_t)(uintptr_t)etext;
}

// gap_jumped reports whether the harness, which is running, will return to somewhere else, or has.
static inline int gap_jumped(void) {
	uint64_t expected = gap_expected ? gap_expected : *gap_return;
	return gap_used && expected && ((const volatile uint64_t *)gap_used)[-1] != expected;
}

static void gap_say(void) {
	static const char said[] = "*** stack smashing detected ***: the harness has written above its frame\n";
	(void)!write(2, said, sizeof said - 1);
}

static void gap_begin(uint64_t *gap) {
	gap_shade(gap, __asan_set_shadow_f3);
	for (size_t i = 0; i < GAP_LOOKED_AT / sizeof *gap; i++) gap[i] = gap_filling;
}

// gap_run runs the harness and ends the process, with the words of the C library for it, if that has written above its
// frame: to the gap, or to what it keeps of the caller's registers.
static inline __attribute__((always_inline)) int gap_run(const uint64_t *gap, int (*harness)(const uint8_t *, size_t), const uint8_t *in, size_t n) {
	uint64_t changed = 0;
	if (gap_shadow && !*gap_shadow) gap_shade(gap, __asan_set_shadow_f3); // a jump or an exception has opened the whole stack
#if defined(__x86_64__)
	register uint64_t b __asm__("rbx") = gap_filling, c __asm__("r12") = gap_filling, d __asm__("r13") = gap_filling,
	                  e __asm__("r14") = gap_filling, f __asm__("r15") = gap_filling;
	static uintptr_t frame_before;
	uintptr_t frame;
	__asm__ volatile("movq %%rbp, %0" : "=m"(frame_before), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
#endif
	gap_used = gap;
	int answer = harness(in, n);
	gap_used = 0;
#if defined(__x86_64__)
	__asm__ volatile("movq %%rbp, %0\n\tmovq %6, %%rbp" : "=&r"(frame), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f) : "m"(frame_before));
	*gap_return = ((const volatile uint64_t *)gap)[-1];
	changed = (frame ^ frame_before) | (b ^ gap_filling) | (c ^ gap_filling) | (d ^ gap_filling) | (e ^ gap_filling) | (f ^ gap_filling);
#endif
	for (size_t i = 0; i < GAP_LOOKED_AT / sizeof *gap; i++) changed |= gap[i] ^ gap_filling;
	if (__builtin_expect(changed != 0, 0)) {
		gap_say();
		abort();
	}
	return answer;
}
