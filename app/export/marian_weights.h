// The tensors of a Transformer in the layout of MarianMTModel.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "app/export/array.h"
#include "app/export/source.h"

namespace attn {

/// The tensors by MarianMTModel's names.
///
/// Marian's sinusoids are the paper's, but all sines precede all cosines. With
/// sinusoidal positions the features are therefore permuted (even ones first) in every weight that
/// reads or writes them; other encodings are written as the tables of positions. Every head is as
/// wide as d_model / heads: narrower ones are padded with zeros, and the queries are scaled, since
/// Marian divides scores by the square root of the padded width. `vocabulary`: rows of the
/// embeddings, the padding token included; rows without a token get the logit -1e9.
std::map<std::string, Array> marian_weights(const ExportSource& source, int64_t vocabulary);

}  // namespace attn
