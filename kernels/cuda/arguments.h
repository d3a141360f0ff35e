// Arguments of the kernels of kernels/cuda/*.cu: one structure each, passed by value. Read by the
// host, by NVRTC, which has no standard headers, and by the emulator of the tests. Pointers are to
// the device's memory, rows are contiguous and start at multiples of 16 bytes.
#pragma once

#ifdef __CUDACC_RTC__
using int32_t = int;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;
#else
#include <cstdint>
#endif

namespace attn::cuda {

/// Numbers in memory: float32 or bf16.
struct Numbers {
  void* data = nullptr;
  int32_t bf16 = 0;
};

/// cpu::DropoutKey, whose key is mix64(*seed + draw): the seed is read from the device's memory, so
/// that a CUDA graph draws new masks whenever it is replayed. seed == nullptr counts as 0.
struct Dropout {
  const uint64_t* seed = nullptr;
  uint64_t draw = 0;
  uint32_t threshold = 0;  ///< 0: no dropout
  float scale = 1.0f;
};

/// out = added + dropout(in), `count` elements.
struct DropoutElements {
  Numbers in, added, out;  ///< added.data == nullptr: nothing
  int64_t count = 0;
  Dropout dropout;
};

/// norm(x + dropout(update)) of rows; see cpu::NormRows.
struct NormForward {
  Numbers x, update, output;  ///< update.data == nullptr: of x alone
  float* sum = nullptr;       ///< x + dropout(update); only with an update
  float *mean = nullptr, *rstd = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  ///< nullptr: RMSNorm
  int64_t rows = 0;
  int32_t width = 0;
  float epsilon = 0.0f;
  Dropout dropout;
};

/// Its gradients.
struct NormBackward {
  Numbers d_output, sum;  ///< sum: x itself without an update
  Numbers d_residual;     ///< x's own gradient beside its norm's, without an update; data ==
                          ///< nullptr: none
  const float *mean = nullptr, *rstd = nullptr, *weight = nullptr;
  Numbers d_x, d_update;     ///< d_update.data == nullptr: not computed
  float* partial = nullptr;  ///< sums over the rows of a block: of the weight [blocks, width], then
                             ///< of the bias if there is one
  int64_t rows = 0;
  int32_t width = 0;
  int32_t has_bias = 0;
  Dropout dropout;
};

/// cpu::smoothed_loss of rows of logits. Rows with a negative target have neither loss nor
/// gradient.
struct LossRows {
  void* logits = nullptr;  ///< overwritten by their gradients, if these are computed
  int64_t stride = 0;      ///< numbers between rows: whole groups of 16 bytes
  int64_t rows = 0;
  int32_t classes = 0;
  int32_t gradient = 0;
  const int64_t* targets = nullptr;
  float target_probability = 0.0f, smoothing_per_class = 0.0f, z_loss = 0.0f;
  int32_t excluded = -1;
  float *losses = nullptr, *nlls = nullptr;  ///< [rows]
};

/// output = dropout(scale · weight[token] + table[position]), rows of `width` numbers.
struct EmbeddingForward {
  const float* weight = nullptr;
  const int64_t* tokens = nullptr;
  const float* table = nullptr;
  const int64_t* positions = nullptr;
  Numbers output;
  int64_t rows = 0;
  int32_t width = 0;
  float scale = 1.0f;
  Dropout dropout;
};

/// Adds the rows' gradients to those of their tokens, in the order of the rows.
struct EmbeddingBackward {
  Numbers d_output;
  const int64_t* tokens = nullptr;   ///< sorted
  const int64_t* rows_of = nullptr;  ///< the row of each
  float* d_weight = nullptr;
  float* partial = nullptr;  ///< [2, chunks, width]: sums of tokens that reach into other chunks
  int64_t rows = 0;
  int32_t width = 0;
  float scale = 1.0f;
  Dropout dropout;
};

// Shapes that kernels and launches agree on.
constexpr int kWarpThreads = 32;
constexpr int kNormRows = 4;           ///< of a block of norm_forward, one per warp
constexpr int kNormBackwardWarps = 8;  ///< of a block of norm_backward
constexpr int kNormBackwardRows = 64;  ///< of a block of norm_backward
constexpr int kPartWidth = 128;        ///< numbers of a row that a warp holds with four a thread
constexpr int kEmbeddingChunk = 32;    ///< sorted tokens of a block of embedding_backward
constexpr int kEmbeddingThreads = 128;
constexpr int kDropoutThreads = 256;

}  // namespace attn::cuda
