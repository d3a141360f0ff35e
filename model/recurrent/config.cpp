#include "model/recurrent/config.h"

#include "base/check.h"
#include "model/limits.h"

namespace attn {

void RecurrentConfig::validate() const {
  require_between("encoder_layers", encoder_layers, 1, kMaxLayers);
  require_between("decoder_layers", decoder_layers, 1, kMaxLayers);
  require_between("d_model", d_model, 1, kMaxWidth);
  require_between("hidden", hidden, 1, kMaxWidth);
  require_between("d_attention", d_attention, 1, kMaxWidth);
  require(!residual || encoder_layers > 2 || decoder_layers > 2, "residual", "true",
          "begins with the third layer of a side: requires encoder_layers or decoder_layers of at "
          "least 3");
  require_dropout("dropout", dropout);
}

}  // namespace attn
