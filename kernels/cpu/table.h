// Function table of the CPU kernels, compiled per instruction set from the same portable source
// files (body.h) and selected at start-up. Raw pointers, float32, row-major; kernels/ops checks
// shapes, splits the work over threads and defines gradients.
#pragma once

#include <cstdint>

namespace attn::cpu {

/// Counter-based dropout: the mask of element i is a pure function of (key, i), so backward
/// recomputes it.
struct DropoutKey {
  uint64_t key = 0;
  uint32_t threshold =
      0;  ///< an element is dropped when its 32 random bits are below this; 0: no dropout
  float scale = 1.0f;  ///< 1 / (1 - p)
};

/// Vectors of relative positions (Shaw et al. 2018), of one head or all heads from the first on.
/// For query i, row clip + d is added to key and value j, where d is j - i clipped to [-clip,
/// clip]. Causal heads and decoding steps read rows 0 to clip only. No relative positions: key is
/// null.
struct RelativeRows {
  const float *key = nullptr, *value = nullptr;  ///< rows of d_k and d_v floats
  int64_t key_stride = 0, value_stride = 0;
  int64_t clip = 0;
};

/// One sentence and one head of attention, or all heads from the first on; strides in floats
/// between rows.
struct AttentionHead {
  const float *query, *key, *value;
  int64_t query_stride, key_stride, value_stride;
  int64_t queries, keys;  ///< L and M
  int64_t d_k, d_v;
  bool causal;
  /// Restricts query i to the keys (i - window, i] if causal, else to |i - j| <= window / 2; 0: no
  /// restriction.
  int64_t window;
  DropoutKey dropout;
  uint64_t first_index;  ///< counter of the head's first weight
  /// Added to the scores by distance: bias[j - i] to that of query i and key j, from -(queries - 1)
  /// to keys - 1; null: none.
  const float* bias = nullptr;
  RelativeRows relative = {};  ///< as many queries as keys
};

struct AttentionGradients {
  const float* output;  ///< dO, laid out as the output
  int64_t output_stride;
  const float* log_sum;        ///< [L], from the forward pass
  float *query, *key, *value;  ///< query is overwritten; key and value are added to
  float* bias = nullptr;       ///< as the head's, added to; null: not computed
  float *relative_key = nullptr,
        *relative_value = nullptr;  ///< as the head's, added to; set if it has them
};

/// Rows of a decoding step and their KV cache.
struct CachedRows {
  const float* query;  ///< [count, heads · d_k]
  int64_t query_stride;
  int64_t count;
  const float* const* keys;  ///< row r's keys at t: keys[t] + rows[r][t] * key_stride
  const float* const* values;
  const int32_t* const* rows;  ///< per row, the back-pointers to all t
  int64_t steps;
  int64_t key_stride, value_stride;
  int64_t heads, kv_heads;  ///< kv_heads, those of keys and values, divides heads
  int64_t d_k, d_v;
  const float* bias = nullptr;  ///< [heads, bias_stride], added to the scores of t; null: none
  int64_t bias_stride = 0;
  RelativeRows relative = {};  ///< all heads, by distance from the last position; clip < steps
};

struct NormRows {
  int64_t begin = 0, end = 0;  ///< rows
  int64_t width = 0;
  const float* x = nullptr;
  const float* update = nullptr;  ///< null: the norm of x alone
  const float* weight = nullptr;
  const float* bias = nullptr;  ///< null: RMSNorm
  float epsilon = 0.0f;
  DropoutKey dropout = {};
};

struct NormGradients {
  const float* output;       ///< dy
  const float* sum;          ///< x + dropout(update), saved
  const float *mean, *rstd;  ///< saved, a value per row
  float *x, *update;         ///< overwritten; update only with dropout, else it may be x
  float *weight, *bias;      ///< [width], added to
};

/// One step of an LSTM (Hochreiter and Schmidhuber, 1997; with forget gates). Rows of gates have
/// 4 · width floats: input, forget, cell update, output, as LibTorch's.
struct LstmCells {
  int64_t rows, width;
  const float* inputs;  ///< W x + b
  float* gates;         ///< U h + c of the state before; overwritten by the activations
  const float* before;  ///< cells before the step, [rows, width]
  float *cell, *hidden;
};

struct LstmGradients {
  int64_t rows, width;
  const float* gates;  ///< activations
  const float *before, *cell;
  const float *d_output, *d_hidden;  ///< gradients of `hidden` by the layer above and next step
  float* d_cell;                     ///< in: from the next step; out: gradient of `before`
  float* d_gates;                    ///< gradients of the sums before the activations
};

/// The target distribution of label smoothing.
struct SmoothedTargets {
  float target_probability;   ///< probability of the target class
  float smoothing_per_class;  ///< probability of every other class
  int64_t excluded;           ///< a class that gets none of it (OpenNMT's ignore_index); -1: none
  float z_loss = 0.0f;        ///< weight of (log Z)² in the loss; not part of the distribution
};

/// y = x times a matrix packed in panels (float, or int8 by pack_int8 of int8.h; the other is
/// null), plus a bias; row strides in floats.
struct PanelProduct {
  const float* x;
  int64_t x_stride;
  const float* panels = nullptr;
  const uint32_t* int8_panels = nullptr;
  const float* scales = nullptr;  ///< with int8_panels: scales of each panel's outputs
  const float* bias = nullptr;    ///< [outputs], or null
  float* y;
  int64_t y_stride;
  int64_t rows, inputs, outputs;
  bool relu = false;
  bool tiled = false;  ///< x is packed by pack_tiles; not with int8_panels
  bool add = false;    ///< adds to y
};

struct Kernels {
  const char* name;
  /// scratch holds attention_scratch(keys, d_k, d_v) floats, and with relative positions then
  /// relative_scratch(clip, d_k, d_v).
  int64_t (*attention_scratch)(int64_t keys, int64_t d_k, int64_t d_v);
  int64_t (*relative_scratch)(int64_t clip, int64_t d_k, int64_t d_v);
  void (*attention_forward)(const AttentionHead&, float* output, int64_t output_stride,
                            float* log_sum, float* scratch);
  void (*attention_backward)(const AttentionHead&, const AttentionGradients&, float* scratch);
  /// Transposes the keys of cross-attention, once per batch, into transposed_size floats.
  int64_t (*transposed_size)(int64_t keys, int64_t d_k);
  void (*transpose)(const float* keys, int64_t stride, int64_t count, int64_t d_k, float* out);
  /// attention_forward without the transposition; scratch as there.
  void (*attention_transposed)(const AttentionHead&, const float* transposed_keys, float* output,
                               int64_t output_stride, float* scratch);
  /// Floats of scratch that step_attention needs; `clip` of its relative positions.
  int64_t (*step_attention_scratch)(int64_t heads, int64_t steps, int64_t clip);
  /// output: [count, heads · d_v]; scratch holds step_attention_scratch(heads, steps, clip) floats.
  /// Neighbouring rows should be hypotheses of one sentence, which share their past.
  void (*step_attention)(const CachedRows&, float* output, float* scratch);
  void (*dropout)(const float* in, float* out, int64_t begin, int64_t end, DropoutKey);
  /// `n` neighbouring elements, of which the first has the counter `first`; in may be out.
  void (*dropout_row)(const float* in, float* out, int64_t n, DropoutKey, uint64_t first);
  /// out = silu(gate) · x, element by element; SwiGLU's product.
  void (*silu_gate)(const float* gate, const float* x, float* out, int64_t count);
  void (*lstm_cells)(const LstmCells&);
  void (*lstm_cells_backward)(const LstmGradients&);
  /// `sum` is not written without an update, and may be null. `output` may be x.
  void (*norm_forward)(const NormRows&, float* output, float* sum, float* mean, float* rstd);
  void (*norm_backward)(const NormRows&, const NormGradients&);
  /// One row of logits: returns the smoothed loss, sets the negative log-likelihood; with
  /// `gradient` the row is overwritten by the gradient of the loss.
  double (*smoothed_loss)(float* logits, int64_t classes, int64_t target, SmoothedTargets,
                          bool gradient, double* nll);
  /// log Σ exp of a row.
  float (*log_sum_exp)(const float* logits, int64_t classes);
  /// The first index >= `begin` with a value above `threshold`; `end` if there is none.
  int64_t (*next_above)(const float* values, int64_t begin, int64_t end, float threshold);
  /// Rows of a weight per panel; panels(outputs) panels of inputs × panel_outputs floats hold it.
  int64_t panel_outputs;
  int64_t (*panels)(int64_t outputs);
  void (*pack_panels)(const float* weight, int64_t outputs, int64_t inputs, float* panels);
  /// The same for a matrix that is stored as [inputs, outputs], `stride` floats between rows.
  void (*pack_columns)(const float* rows, int64_t stride, int64_t inputs, int64_t outputs,
                       float* panels);
  /// Packs a left operand that is stored as [inputs, rows], `stride` floats between inputs, into
  /// inputs · rows floats; a block of rows is a product of its own.
  void (*pack_tiles)(const float* columns, int64_t stride, int64_t inputs, int64_t rows,
                     float* tiles);
  void (*multiply_panels)(const PanelProduct&, int64_t first_panel, int64_t last_panel);
};

/// The tables that this processor supports, the fastest first; null beyond the last.
const Kernels* supported(int64_t index);

/// The fastest of them.
const Kernels& kernels();

}  // namespace attn::cpu
