#define ATTN_ISA avx512
#include "kernels/cpu/isa.h"
