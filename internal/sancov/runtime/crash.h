// The handler of fatal signals, which records the signal, the address and the stack. A sanitizer's own handlers, which record
// more, are left in place.

static uint8_t crash_stack[1 << 16];

static uintptr_t crash_from; // the innermost program counter of the stack

static _Unwind_Reason_Code frame_add(struct _Unwind_Context *c, void *begun) {
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(c, &before);
	*(int *)begun |= before && pc == crash_from;
	if (!*(int *)begun) return _URC_NO_REASON; // a frame of the handler or the C library
	if (!pc || SHARED.results->frame_count == TEASEL_FRAMES) return _URC_END_OF_STACK;
	SHARED.results->frames[SHARED.results->frame_count++] = before ? pc : pc - 1; // the address of the call, not the return address
	return _URC_NO_REASON;
}

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

enum { FATAL = sizeof fatal / sizeof *fatal };

static struct sigaction previous_handlers[FATAL];

static int forked_faults(int signal, const siginfo_t *info);
static void caught_exit(void);
static void handler_adopt(int signal);

int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *old);

// crash_note records the first fatal signal of a batch.
static void crash_note(int signal, siginfo_t *info, ucontext_t *u) {
	if (segment_base && !SHARED.results->signal) SHARED.results->pid = getpid(); // the first of a server's processes that gets a signal
	int by_child = SHARED.results->pid != getpid(); // a process that the target has forked, which may end itself by a signal
	if (SHARED.results->signal || (by_child && !forked_faults(signal, info))) return; // the former is the abort of a sanitizer after its report
	SHARED.results->signal = (uint32_t)signal;
	SHARED.results->code = (uint32_t)info->si_code;
	SHARED.results->address = (uint64_t)(uintptr_t)info->si_addr;
	SHARED.results->access = 0;
	SHARED.results->frame_count = 0;
	if (gap_return_overwritten()) gap_report();
	if (signal == SIGABRT) exception_report();
	int begun = 0;
#if defined(__x86_64__)
	greg_t *r = u->uc_mcontext.gregs, ip = r[REG_RIP], sp = r[REG_RSP];
	SHARED.results->pc = (uint64_t)ip;
	SHARED.results->sp = (uint64_t)sp;
	uint64_t fault = (uint64_t)r[REG_ERR];
	if (signal == SIGSEGV || signal == SIGBUS) SHARED.results->access = fault & 16 ? 3 : fault & 2 ? 2 : 1;
#elif defined(__aarch64__)
	SHARED.results->pc = u->uc_mcontext.pc;
	SHARED.results->sp = u->uc_mcontext.sp;
#else
	(void)u;
#endif
	if (SHARED.results->access && SHARED.results->address == SHARED.results->pc) SHARED.results->access = 3;
	crash_from = (uintptr_t)SHARED.results->pc;
#if defined(__x86_64__)
	if (signal == SIGTRAP && info->si_code == SI_KERNEL) // int3: the next instruction may belong to another line
		r[REG_RIP] = (greg_t)(crash_from = SHARED.results->pc = (uint64_t)ip - 1);
	int jumped = SHARED.results->access == 3 && SHARED.results->address == SHARED.results->pc;
	if (jumped) { // there is no code at that address: the stack begins with the call that led there
		crash_from = *(uintptr_t *)sp - 1;
		r[REG_RIP] = (greg_t)crash_from;
		r[REG_RSP] += 8;
	}
	_Unwind_Backtrace(frame_add, &begun);
	r[REG_RIP] = ip;
	r[REG_RSP] = sp;
#else
	_Unwind_Backtrace(frame_add, &begun);
#endif
}

// A sampled stack, with the start of the function of each frame and the count of its calls.
enum { SAMPLE_FRAMES = 1024 };

struct stack {
	uint32_t count;
	uintptr_t pc[SAMPLE_FRAMES], function[SAMPLE_FRAMES];
	int entries[SAMPLE_FRAMES];
};

static struct stack stacks[TEASEL_SAMPLES];
static uint64_t sampled; // the run to which the stacks belong
static volatile sig_atomic_t sampling;
static volatile sig_atomic_t running; // the harness is running an input

static _Unwind_Reason_Code sample_add(struct _Unwind_Context *c, void *into) {
	struct stack *s = into;
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(c, &before);
	if (before && pc == crash_from) s->count = 0;
	if (!pc) return _URC_END_OF_STACK;
	if (s->count == SAMPLE_FRAMES) { // keep the outer half of a deep recursion
		s->count /= 2;
		__builtin_memcpy(s->pc, s->pc + s->count, sizeof s->pc / 2);
		__builtin_memcpy(s->function, s->function + s->count, sizeof s->function / 2);
	}
	s->function[s->count] = _Unwind_GetRegionStart(c);
	s->pc[s->count++] = before ? pc : pc - 1;
	return _URC_NO_REASON;
}

// shared_frames returns the number of outer frames that all stacks share. For the innermost of them only the function has to be
// the same, since samples of a loop have different addresses in it.
static uint32_t shared_frames(uint32_t n) {
	const struct stack *a = stacks;
	uint32_t all = a->count;
	for (uint32_t i = 1; i < n; i++) {
		const struct stack *b = stacks + i;
		uint32_t same = 0, most = all < b->count ? all : b->count;
		while (same < most && a->pc[a->count - 1 - same] == b->pc[b->count - 1 - same]) same++;
		all = same < most && a->function[a->count - 1 - same] == b->function[b->count - 1 - same] ? same + 1 : same;
	}
	return all;
}

// loop_depth returns the number of shared frames down to the function with the loop: the innermost function that was not called
// again between samples. If that function calls a recursive one, the frame of the latter is included.
static uint32_t loop_depth(uint32_t n, uint32_t shared) {
	const struct stack *a = stacks;
	uint32_t outer = shared;
	for (; outer > 1; outer--) {
		uint32_t at = a->count - outer;
		int again = a->entries[at] < 0;
		for (uint32_t i = 1; i < n; i++) again |= stacks[i].entries[stacks[i].count - outer] != a->entries[at];
		if (!again) break;
	}
	for (uint32_t i = a->count - outer; outer < shared && i > 1; i--)
		if (a->function[i - 2] == a->function[a->count - outer - 1]) return outer + 1;
	return outer;
}

// samples_join stores the position of each sample in that function, followed by the callers of the function.
static void samples_join(uint32_t n) {
	uint32_t shared = shared_frames(n), outer = n > 1 && shared ? loop_depth(n, shared) : shared;
	SHARED.results->frame_count = 0;
	for (uint32_t i = 0; i < n && outer; i++) SHARED.results->frames[SHARED.results->frame_count++] = stacks[i].pc[stacks[i].count - outer];
	for (uint32_t i = stacks[0].count - outer + 1; i < stacks[0].count && SHARED.results->frame_count < TEASEL_FRAMES; i++)
		SHARED.results->frames[SHARED.results->frame_count++] = stacks[0].pc[i];
}

static void sample(int signal, siginfo_t *info, void *context) {
	(void)info;
	uint64_t run = (uint64_t)SHARED.control->round << 32 | SHARED.results->cur;
	uint32_t n = sampled == run ? SHARED.results->samples : 0;
	if (SHARED.results->pid != getpid() || n == TEASEL_SAMPLES) return;
	if (!running || run != __atomic_load_n(&SHARED.control->asked, __ATOMIC_ACQUIRE)) {
		__atomic_store_n(&SHARED.results->samples, TEASEL_RUN_OVER, __ATOMIC_RELEASE);
		return;
	}
#if defined(__x86_64__)
	crash_from = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	crash_from = (uintptr_t)((ucontext_t *)context)->uc_mcontext.pc;
#else
	(void)context;
#endif
	stacks[n].count = 0;
	sampling = 1;
	_Unwind_Backtrace(sample_add, stacks + n);
	sampling = 0;
	for (uint32_t i = 0; i < stacks[n].count; i++) {
		uintptr_t f = stacks[n].function[i];
		stacks[n].entries[i] = i && f == stacks[n].function[i - 1] ? stacks[n].entries[i - 1] : call_count(f);
	}
	sampled = run;
	samples_join(n + 1);
	__atomic_store_n(&SHARED.results->samples, n + 1, __ATOMIC_RELEASE);
	while (signal == TEASEL_LAST_SAMPLE) pause(); // a run that slept would continue
}

// raise_unblocked raises a signal that is blocked while it is handled.
static void raise_unblocked(int signal) {
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, 0);
	raise(signal);
}

// crash passes the signal on to the previous handler, which is a sanitizer's or the default. It restores that handler first, in
// case that unwinding the stack faults.
static void crash(int signal, siginfo_t *info, void *context) {
	while (sampling) pause(); // unwinding has faulted; teasel is about to kill this process
	caught_exit();
	for (size_t i = 0; i < FATAL; i++)
		if (fatal[i] == signal) __real_sigaction(signal, &previous_handlers[i], 0);
	crash_note(signal, info, context);
	if (info->si_code > 0 && signal != SIGTRAP && signal != SIGSYS) return; // the instruction is executed again and faults again; after those two signals execution would continue
	raise_unblocked(signal);
}

void __asan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));
void __ubsan_handle_builtin_unreachable(void *) __attribute__((weak));
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

// A target may handle such signals for its own purposes, as virtual machines and garbage collectors do. Handlers that it has
// installed before its first input are left in place. Those of a sanitizer are installed before any code of the target runs.
static struct sigaction handlers_at_start[FATAL];
static uint8_t keep_handler[FATAL];

static __attribute__((constructor(101))) void handlers_record_at_start(void) {
	for (size_t i = 0; i < FATAL; i++) __real_sigaction(fatal[i], 0, &handlers_at_start[i]);
}

static void handlers_record(void) {
	for (size_t i = 0; i < FATAL; i++) {
		struct sigaction now = {.sa_handler = SIG_DFL};
		if (__real_sigaction(fatal[i], 0, &now) || now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN) continue;
		keep_handler[i] = !__sanitizer_set_report_fd || now.sa_handler != handlers_at_start[i].sa_handler;
		if (keep_handler[i]) handler_adopt(fatal[i]);
	}
}

// crash_install handles a signal with crash, which passes it on to the handler that was there before.
static void crash_install(int signal) {
	__real_sigaction(signal, &(struct sigaction){.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER}, 0);
}

static void fatal_handlers_install(void) {
	stack_t ours = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack}, theirs;
	if (sigaltstack(0, &theirs) == 0 && theirs.ss_flags & SS_DISABLE) sigaltstack(&ours, 0);
	if (__tsan_init) return; // its handlers report the same, and calls of the C library in ours may deadlock
	for (size_t i = 0; i < FATAL; i++) {
		if (keep_handler[i]) continue;
		__real_sigaction(fatal[i], 0, &previous_handlers[i]);
		crash_install(fatal[i]);
		// UndefinedBehaviorSanitizer's handlers report no more than ours, and may fault on a damaged stack.
		if (!__asan_init && !__msan_init) previous_handlers[i].sa_handler = SIG_DFL;
	}
}

static void handlers_install(void) {
	atexit(caught_exit); // of a harness
	struct sigaction ask = {.sa_sigaction = sample, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	__real_sigaction(TEASEL_SAMPLE, &ask, 0);
	__real_sigaction(TEASEL_LAST_SAMPLE, &ask, 0);
	fatal_handlers_install();
}
