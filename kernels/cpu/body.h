// The kernels' one source. Included by one .cpp per instruction set, each inside its own namespace
// and compiled with its own flags: hence no standard templates here, whose instances the linker
// could hand to a processor that lacks them.
// Order matters: each part uses the ones before it.
// clang-format off
#include "kernels/cpu/math_body.h"
#include "kernels/cpu/attention_body.h"
#include "kernels/cpu/norm_body.h"
#include "kernels/cpu/loss_body.h"
#include "kernels/cpu/product_body.h"
// clang-format on
