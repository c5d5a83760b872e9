// The function that AFL's macro __AFL_LOOP calls. It is linked only if the program has such a loop, in which a process then runs many
// inputs.

int teasel_loop_next(unsigned most);

extern const char teasel_loops;
const char teasel_loops = 1;

int __afl_persistent_loop(unsigned most) { return teasel_loop_next(most); }
