#include "app/export/read_source.h"

#include <string>

#include "app/experiment/checkpoint.h"
#include "app/experiment/run_result.h"
#include "base/error.h"
#include "model/transformer/transformer.h"

namespace attn {
namespace {

// Sinusoids have no end, tables of positions have. The translator reads at most half of this.
constexpr int64_t kPositions = 2048;

Array to_array(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous();
  const auto* data = values.data_ptr<float>();
  return {values.sizes().vec(), {data, data + values.numel()}};
}

// What the encoding adds to an embedding of zeros; zeros for rotary positions and none.
Array position_table(PositionEncoding& encoding, const TransformerConfig& config) {
  const int64_t rows = config.max_length().value_or(kPositions);
  return to_array(encoding->forward(torch::zeros({rows, config.d_model}),
                                    torch::arange(rows, torch::kInt64), rows));
}

}  // namespace

ExportSource read_export_source(const std::filesystem::path& path) {
  const torch::NoGradGuard no_grad;
  LoadedModel loaded = load_model(path, torch::kCPU);
  const Architecture architecture = loaded.experiment.model.architecture();
  if (architecture != Architecture::transformer) {
    throw ConfigError(path.string() +
                      ": model.architecture: " + std::string(enum_name(architecture)) +
                      ": only the Transformer can be exported");
  }
  if (loaded.experiment.data.task == Task::parsing) {
    throw ConfigError(path.string() +
                      ": data.task: parsing: cannot be exported, since no target can constrain its "
                      "search to trees; see docs/howto/python.md");
  }
  if (loaded.tokenizers.features) {
    throw ConfigError(path.string() +
                      ": tags and word features (data.tag, data.word_classes, data.word_pieces) "
                      "cannot be exported");
  }
  if (loaded.experiment.data.unknown_classes) {
    throw ConfigError(
        path.string() +
        ": data.unknown_classes: true: cannot be exported, since the targets have one "
        "token for all unknown words");
  }
  const std::string edited = as_read(RunDirectory::of_checkpoint(loaded.directory.path()));
  if (!edited.empty()) {
    throw ConfigError(path.string() + ": ran as read: " + edited +
                      ": cannot be exported, since no target computes an edited formula; export a "
                      "run of the formula as published");
  }
  auto* model = loaded.model->as<TransformerImpl>();
  ExportSource source{.checkpoint = loaded.directory.path(),
                      .config = loaded.experiment.model.get<TransformerConfig>(),
                      .search = loaded.experiment.search,
                      .tokenizers = loaded.tokenizers};
  for (const auto& parameter : model->named_parameters()) {
    source.weights[parameter.key()] = to_array(parameter.value());
  }
  source.source_positions = position_table(model->source_embedding->position, source.config);
  source.target_positions = position_table(model->target_embedding->position, source.config);
  return source;
}

}  // namespace attn
