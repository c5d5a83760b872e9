// A gap in the stack between the frames of the harness and of its caller. A harness that writes beyond its arrays, and beyond the
// redzones that AddressSanitizer puts around them, writes to the gap: the write is detected, and does not make the caller crash
// instead. AddressSanitizer poisons the gap like its redzones; without it, a part of the gap is checked after every run.

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

// Functions of AddressSanitizer, unchanged since LLVM 4.
void __asan_get_shadow_mapping(size_t *scale, size_t *offset) __attribute__((weak));
void __asan_set_shadow_00(uintptr_t shadow, size_t size) __attribute__((weak));
void __asan_set_shadow_f3(uintptr_t shadow, size_t size) __attribute__((weak)); // a redzone to the right of a variable

enum { GAP = 1 << 16, GAP_CHECKED = 1 << 8 }; // bytes
static const uint64_t gap_filling = 0x9e3779b97f4a7c15;

// gap_size is the argument of alloca, which must be called in the function that calls the harness: it returns the bottom of that
// function's frame. The compiler would put an array of constant size anywhere in the frame.
static volatile size_t gap_size = GAP;

static volatile const uint8_t *gap_shadow; // shadow byte of the beginning of the gap; 0: there is no AddressSanitizer

static void gap_set_shadow(const uint64_t *gap, void (*set)(uintptr_t shadow, size_t size)) {
	size_t scale, offset;
	if (!__asan_get_shadow_mapping || !set) return;
	__asan_get_shadow_mapping(&scale, &offset);
	uintptr_t from = (uintptr_t)gap, to = from + GAP;
	gap_shadow = (uint8_t *)((from >> scale) + offset);
#if defined(__x86_64__)
	from -= sizeof from; // the return address of the harness
#endif
	set((from >> scale) + offset, (to - from) >> scale);
}

// The return address of the harness lies just below the gap.
static const uint64_t *volatile gap_used; // while the harness runs; 0: it does not
static volatile uint64_t gap_unshared, *gap_return = &gap_unshared; // the return address after a run, shared by all children; 0: unknown
static uint64_t gap_expected; // the return address that an earlier child has recorded; 0: unknown

extern const char __executable_start[] __attribute__((weak, visibility("hidden")));
extern const char etext[] __attribute__((weak));

// gap_plausible reports whether an address lies in the code of the program: a child may have recorded any value.
static inline int gap_plausible(uint64_t address) {
	return address > (uint64_t)(uintptr_t)__executable_start && address < (uint64_t)(uintptr_t)etext;
}

// gap_return_overwritten reports whether the harness, while it runs, has overwritten its return address.
static inline int gap_return_overwritten(void) {
	uint64_t expected = gap_expected ? gap_expected : *gap_return;
	return gap_used && expected && ((const volatile uint64_t *)gap_used)[-1] != expected;
}

static void gap_report(void) {
	static const char said[] = "*** stack smashing detected ***: the harness has written above its frame\n";
	(void)!write(2, said, sizeof said - 1);
}

static void gap_begin(uint64_t *gap) {
	gap_set_shadow(gap, __asan_set_shadow_f3);
	for (size_t i = 0; i < GAP_CHECKED / sizeof *gap; i++) gap[i] = gap_filling;
}

// gap_run runs the harness. It aborts the process, with the message of the C library for stack smashing, if the harness has
// written above its frame: to the gap, or to the registers of the caller that it has saved there.
static inline __attribute__((always_inline)) int gap_run(const uint64_t *gap, int (*harness)(const uint8_t *, size_t), const uint8_t *in, size_t n) {
	uint64_t changed = 0;
	if (gap_shadow && !*gap_shadow) gap_set_shadow(gap, __asan_set_shadow_f3); // longjmp or an exception has unpoisoned the whole stack
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
	for (size_t i = 0; i < GAP_CHECKED / sizeof *gap; i++) changed |= gap[i] ^ gap_filling;
	if (__builtin_expect(changed != 0, 0)) {
		gap_report();
		abort();
	}
	return answer;
}
