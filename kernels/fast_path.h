// Fast paths: implementations of formulas of model/ and train/ that are faster than the formulas as
// they are read there, and whether they still compute them.
//
// A formula that has a fast path stands between the comments "// Formula NAME: fast path PATH, …."
// and "// End of formula.". The source of the fast path names it with a hash of its text, comments
// and white space aside: "// Fast path PATH: NAME HASH". The build compares them
// (cmake/Formulas.cmake); a fast path with another hash is off in this build, so that an edited
// formula is what runs (docs/howto/formula.md). `tools/formulas --accept` renews the hashes.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "base/enum_names.h"

namespace attn {

enum class FastPath {
  linear,
  norm,
  dropout,
  rotary,
  attention,
  dot_attention,
  gru,
  lstm,
  loss,
  packed_search,
  transformer_step,
  recurrent_step,
  convolutional_step,
  bytenet_step,
  gpu_linear,
  gpu_norm,
  gpu_dropout,
  gpu_embedding,
  gpu_loss
};

template <>
struct EnumNames<FastPath> {
  static constexpr auto values =
      std::to_array<EnumName<FastPath>>({{FastPath::linear, "linear"},
                                         {FastPath::norm, "norm"},
                                         {FastPath::dropout, "dropout"},
                                         {FastPath::rotary, "rotary"},
                                         {FastPath::attention, "attention"},
                                         {FastPath::dot_attention, "dot_attention"},
                                         {FastPath::gru, "gru"},
                                         {FastPath::lstm, "lstm"},
                                         {FastPath::loss, "loss"},
                                         {FastPath::packed_search, "packed_search"},
                                         {FastPath::transformer_step, "transformer_step"},
                                         {FastPath::recurrent_step, "recurrent_step"},
                                         {FastPath::convolutional_step, "convolutional_step"},
                                         {FastPath::bytenet_step, "bytenet_step"},
                                         {FastPath::gpu_linear, "gpu_linear"},
                                         {FastPath::gpu_norm, "gpu_norm"},
                                         {FastPath::gpu_dropout, "gpu_dropout"},
                                         {FastPath::gpu_embedding, "gpu_embedding"},
                                         {FastPath::gpu_loss, "gpu_loss"}});
};

/// A formula of a fast path, as the build found it.
struct Formula {
  FastPath path;
  const char* name;
  const char* place;  ///< file and line
  bool followed;      ///< whether the hashes are equal
};

/// Of all fast paths; defined in a source that the build generates.
std::span<const Formula> formulas();

/// The edited formulas of a fast path as "NAME (file:line)"; empty: it computes them as they are
/// read.
std::vector<std::string> edited_formulas(FastPath path);

/// Whether fast paths are taken: the option runtime.kernels.
enum class Kernels {
  automatic,  ///< where there is one that computes the formula as it is read
  strict,     ///< the same; a fast path that is off because its formula was edited is an error
  off         ///< nowhere; search remains by the model's step()
};

template <>
struct EnumNames<Kernels> {
  static constexpr auto values = std::to_array<EnumName<Kernels>>(
      {{Kernels::automatic, "auto"}, {Kernels::strict, "strict"}, {Kernels::off, "off"}});
};

/// Sets it for this process; `automatic` leaves it to the environment variable ATTN_KERNELS (auto,
/// strict or off), if there is one. Throws ConfigError for another value of the variable.
void use_kernels(Kernels kernels);
Kernels kernels_in_use();

/// Whether a fast path computes its formulas as they are read. If not, remembers it for
/// paths_run_as_read(); throws ConfigError if kernels_in_use() is strict. Thread-safe.
bool follows_formulas(FastPath path);

/// The fast paths that were off where they would have been taken in this process.
std::vector<FastPath> paths_run_as_read();

}  // namespace attn
