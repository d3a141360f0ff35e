#include "model/transformer/sublayer.h"

namespace attn {

NormLayer make_norm(const TransformerConfig& config) {
  return NormLayer(config.norm_kind, config.d_model);
}

SublayerImpl::SublayerImpl(const TransformerConfig& config) : order_(config.norm) {
  norm = register_module("norm", make_norm(config));
  dropout = register_module("dropout", Dropout(config.dropout));
}

}  // namespace attn
