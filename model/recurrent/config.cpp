#include "model/recurrent/config.h"

#include "base/check.h"

namespace attn {

void RecurrentConfig::validate() const {
  constexpr int64_t kMaxLayers = 100, kMaxWidth = 1 << 20;
  const auto between = [](const char* name, int64_t value, int64_t max, const char* rule) {
    require(value >= 1 && value <= max, name, value, rule);
  };
  between("encoder_layers", encoder_layers, kMaxLayers, "must be 1 to 100");
  between("decoder_layers", decoder_layers, kMaxLayers, "must be 1 to 100");
  between("d_model", d_model, kMaxWidth, "must be from 1 to 1048576");
  between("hidden", hidden, kMaxWidth, "must be from 1 to 1048576");
  between("d_attention", d_attention, kMaxWidth, "must be from 1 to 1048576");
  require(!residual || encoder_layers > 2 || decoder_layers > 2, "residual", "true",
          "begins with the third layer of a side: requires encoder_layers or decoder_layers of at "
          "least 3");
  require(dropout >= 0.0 && dropout < 1.0, "dropout", dropout, "must be at least 0 and below 1");
}

}  // namespace attn
