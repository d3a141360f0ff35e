#include "model/bytenet/bytenet.h"
#include "model/convolutional/convolutional.h"
#include "model/recurrent/recurrent.h"
#include "model/seq2seq.h"
#include "model/transformer/transformer.h"

namespace attn {
namespace {

std::shared_ptr<Seq2SeqModel> make(const TransformerConfig& config, const VocabularySizes& sizes) {
  return std::make_shared<TransformerImpl>(config, sizes);
}

std::shared_ptr<Seq2SeqModel> make(const RecurrentConfig& config, const VocabularySizes& sizes) {
  return std::make_shared<RecurrentImpl>(config, sizes);
}

std::shared_ptr<Seq2SeqModel> make(const ConvolutionalConfig& config,
                                   const VocabularySizes& sizes) {
  return std::make_shared<ConvolutionalImpl>(config, sizes);
}

std::shared_ptr<Seq2SeqModel> make(const ByteNetConfig& config, const VocabularySizes& sizes) {
  return std::make_shared<ByteNetImpl>(config, sizes);
}

}  // namespace

std::shared_ptr<Seq2SeqModel> make_model(const ModelConfig& config, const VocabularySizes& sizes) {
  return std::visit([&](const auto& chosen) { return make(chosen, sizes); }, config.options);
}

}  // namespace attn
