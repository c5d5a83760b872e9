// What is linked first.

#include <stdint.h>

#include "pad.h"

PAD(pad);
