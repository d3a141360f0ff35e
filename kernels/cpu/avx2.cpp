#define ATTN_ISA avx2
#include "kernels/cpu/isa.h"
