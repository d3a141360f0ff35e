// Compiles body.h in the namespace ATTN_ISA and exports its table. Included once per instruction
// set.
#include "kernels/cpu/table.h"

#define ATTN_TEXT_OF(x) #x
#define ATTN_TEXT(x) ATTN_TEXT_OF(x)
// Before a loop whose iterations do not depend on each other.
#ifdef __clang__
#define ATTN_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ATTN_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace attn::cpu::ATTN_ISA {
namespace {
#include "kernels/cpu/body.h"
}  // namespace

const Kernels& table();
const Kernels& table() {
  static constexpr Kernels kTable = {
      ATTN_TEXT(ATTN_ISA), attention_scratch,    relative_scratch,
      attention_forward,   attention_backward,   transposed_size,
      transpose,           attention_transposed, step_attention_scratch,
      step_attention,      dropout_elements,     dropout_row,
      silu_gate,           lstm_cells,           lstm_cells_backward,
      norm_forward,        norm_backward,        smoothed_loss,
      log_sum_exp,         next_above,           kPanel,
      panels_of,           pack_panels,          pack_columns,
      pack_tiles,          multiply_panels};
  return kTable;
}

}  // namespace attn::cpu::ATTN_ISA
