// The padding before the first counters. This object is linked first.

#include <stdint.h>

#include "pad.h"

PAD(pad);
