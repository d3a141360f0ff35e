#include "model/bytenet/bytenet.h"
#include "model/convolutional/convolutional.h"
#include "model/recurrent/recurrent.h"
#include "model/seq2seq.h"
#include "model/transformer/transformer.h"

namespace attn {

std::shared_ptr<Seq2SeqModel> make_model(const ModelConfig& config, const VocabularySizes& sizes) {
  switch (config.architecture()) {
    case Architecture::transformer:
      return std::make_shared<TransformerImpl>(config.get<TransformerConfig>(), sizes);
    case Architecture::recurrent:
      return std::make_shared<RecurrentImpl>(config.get<RecurrentConfig>(), sizes);
    case Architecture::convolutional:
      return std::make_shared<ConvolutionalImpl>(config.get<ConvolutionalConfig>(), sizes);
    case Architecture::bytenet:
      return std::make_shared<ByteNetImpl>(config.get<ByteNetConfig>(), sizes);
  }
  TORCH_CHECK(false, "unknown architecture");
}

}  // namespace attn
