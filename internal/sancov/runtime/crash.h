// What a fatal signal tells: which, where, and the stack. A sanitizer's own handlers know better and stay.

static uint8_t crash_stack[1 << 16];

static uintptr_t crash_from; // where the stack begins

static _Unwind_Reason_Code frame_add(struct _Unwind_Context *c, void *unused) {
	(void)unused;
	int before = 0;
	uintptr_t pc = _Unwind_GetIPInfo(c, &before);
	if (before && pc == crash_from) header->frame_count = 0; // what came before are the handler and the C library
	if (!pc || header->frame_count == TEASEL_FRAMES) return _URC_END_OF_STACK;
	header->frames[header->frame_count++] = before ? pc : pc - 1; // of a call, not of what it returns to
	return _URC_NO_REASON;
}

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

enum { FATAL = sizeof fatal / sizeof *fatal };

static struct sigaction before_us[FATAL];

// crash_note keeps what can be known of the first fatal signal of a batch.
static void crash_note(int signal, siginfo_t *info, ucontext_t *u) {
	if (header->signal || header->pid != getpid()) return; // a sanitizer that has reported aborts; or a child of the target
	header->signal = (uint32_t)signal;
	header->code = (uint32_t)info->si_code;
	header->address = (uint64_t)(uintptr_t)info->si_addr;
	header->access = 0;
	header->frame_count = 0;
#if defined(__x86_64__)
	greg_t *r = u->uc_mcontext.gregs, ip = r[REG_RIP], sp = r[REG_RSP];
	header->pc = (uint64_t)ip;
	header->sp = (uint64_t)sp;
	uint64_t fault = (uint64_t)r[REG_ERR];
	if (signal == SIGSEGV || signal == SIGBUS) header->access = fault & 16 ? 3 : fault & 2 ? 2 : 1;
#elif defined(__aarch64__)
	header->pc = u->uc_mcontext.pc;
	header->sp = u->uc_mcontext.sp;
#else
	(void)u;
#endif
	if (header->access && header->address == header->pc) header->access = 3;
	crash_from = (uintptr_t)header->pc;
#if defined(__x86_64__)
	int jumped = header->access == 3 && header->address == header->pc;
	if (jumped) { // there is no code: the stack begins with the call that led there
		crash_from = *(uintptr_t *)sp - 1;
		r[REG_RIP] = (greg_t)crash_from;
		r[REG_RSP] += 8;
	}
	_Unwind_Backtrace(frame_add, 0);
	r[REG_RIP] = ip;
	r[REG_RSP] = sp;
#else
	_Unwind_Backtrace(frame_add, 0);
#endif
}

// crash lets whoever was there before, a sanitizer or nobody, see the signal too. Should reading the stack fail, that is
// already in place.
static void crash(int signal, siginfo_t *info, void *context) {
	for (size_t i = 0; i < FATAL; i++)
		if (fatal[i] == signal) sigaction(signal, &before_us[i], 0);
	crash_note(signal, info, context);
	if (info->si_code > 0) return; // the instruction is run again
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, 0);
	raise(signal);
}

void __asan_init(void) __attribute__((weak));
void __msan_init(void) __attribute__((weak));
void __ubsan_handle_builtin_unreachable(void *) __attribute__((weak));

static void crash_watch(void) {
	stack_t ours = {.ss_sp = crash_stack, .ss_size = sizeof crash_stack}, theirs;
	if (sigaltstack(0, &theirs) == 0 && theirs.ss_flags & SS_DISABLE) sigaltstack(&ours, 0);
	struct sigaction a = {.sa_sigaction = crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
	for (size_t i = 0; i < FATAL; i++) {
		sigaction(fatal[i], &a, &before_us[i]);
		// UndefinedBehaviorSanitizer's handlers see no more than ours, and trip over stacks.
		if (!__asan_init && !__msan_init) before_us[i].sa_handler = SIG_DFL;
	}
}
