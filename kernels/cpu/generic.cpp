#define ATTN_ISA generic
#include "kernels/cpu/isa.h"
