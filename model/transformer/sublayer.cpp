#include "model/transformer/sublayer.h"

namespace attn {

SublayerImpl::SublayerImpl(const TransformerConfig& config) : order_(config.norm) {
  norm = register_module("norm", NormLayer(config.d_model));
  dropout = register_module("dropout", Dropout(config.dropout));
}

}  // namespace attn
