#include "model/recurrent/config.h"

#include "base/check.h"

namespace attn {

void RecurrentConfig::validate() const {
  constexpr int64_t kDeepest = 100, kWidest = 1 << 20;
  const auto between = [](const char* name, int64_t value, int64_t most, const char* rule) {
    require(value >= 1 && value <= most, name, value, rule);
  };
  between("encoder_layers", encoder_layers, kDeepest, "must be 1 to 100");
  between("decoder_layers", decoder_layers, kDeepest, "must be 1 to 100");
  between("d_model", d_model, kWidest, "must be from 1 to 1048576");
  between("hidden", hidden, kWidest, "must be from 1 to 1048576");
  between("d_attention", d_attention, kWidest, "must be from 1 to 1048576");
  require(!residual || encoder_layers > 2 || decoder_layers > 2, "residual", "true",
          "begins with the third layer of a side: requires encoder_layers or decoder_layers of at "
          "least 3");
  require(dropout >= 0.0 && dropout < 1.0, "dropout", dropout, "must be at least 0 and below 1");
}

}  // namespace attn
