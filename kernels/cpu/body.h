// The portable source file of all kernels. Included by one .cpp per instruction set, in its own
// namespace and with its own compiler flags. No standard templates here: the linker merges their
// instances, and could pick one with unsupported instructions. The order of the parts matters.
// clang-format off
#include "kernels/cpu/math_body.h"
#include "kernels/cpu/vector_body.h"
#include "kernels/cpu/scores_body.h"
#include "kernels/cpu/row_blocks_body.h"
#include "kernels/cpu/relative_body.h"
#include "kernels/cpu/attention_body.h"
#include "kernels/cpu/step_attention_body.h"
#include "kernels/cpu/norm_body.h"
#include "kernels/cpu/loss_body.h"
#include "kernels/cpu/product_body.h"
// clang-format on
