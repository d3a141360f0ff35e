#include "train/checkpoint.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/parse_number.h"
#include "base/safetensors.h"

namespace attn {
namespace {

std::span<const std::byte> bytes_of(const torch::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()),
          static_cast<size_t>(tensor.nbytes())};
}

SafetensorsFile open_checked(const std::filesystem::path& path) {
  SafetensorsFile file(path);
  file.require_checksum();
  return file;
}

// Named float32 tensors, kept alive until written.
class TensorList {
 public:
  void add(const std::string& name, const torch::Tensor& tensor) {
    held_.push_back(tensor.detach().to(torch::kCPU, torch::kFloat32).contiguous());
    views_.push_back({name, "F32", held_.back().sizes().vec(), bytes_of(held_.back())});
  }
  // With a checksum and attn's version in the metadata. Throws DataError.
  void write(const std::filesystem::path& path, std::map<std::string, std::string> metadata) {
    std::ranges::sort(views_, {}, &TensorView::name);
    metadata.insert({{kChecksum, checksum_of(views_)}, {"attn", ATTN_VERSION}});
    write_safetensors(path, views_, metadata);
  }

 private:
  std::vector<torch::Tensor> held_;
  std::vector<TensorView> views_;
};

std::string shape_text(at::IntArrayRef shape) {
  return c10::str(shape);  // "[20, 16]"
}

void copy_into(torch::Tensor out, const TensorView& view, const std::filesystem::path& path) {
  if (view.dtype != "F32") {
    throw DataError(path.string() + ": " + view.name + " is " + view.dtype + ", expected F32");
  }
  if (view.shape != out.sizes().vec()) {
    throw DataError(path.string() + ": " + view.name + " has shape " + shape_text(view.shape) +
                    ", expected " + shape_text(out.sizes()) +
                    "; the checkpoint belongs to a different config");
  }
  const torch::NoGradGuard no_grad;
  const torch::Tensor host = torch::empty(view.shape, torch::kFloat32);
  std::memcpy(host.data_ptr(), view.bytes.data(), view.bytes.size());
  // The sum is finite exactly if all values are, since no model has sums beyond float64.
  if (!std::isfinite(host.sum(torch::kFloat64).item<double>())) {
    throw DataError(path.string() + ": " + view.name +
                    " contains non-finite values; the file is damaged or the run diverged: use "
                    "an earlier checkpoint (RUN@STEP); to resume from it, delete this one");
  }
  out.copy_(host);
}

// The fields by name, for saving and loading: those that an evaluation sets, and all.
template <class State, class Visit>
void visit_evaluation(State& state, Visit&& visit) {
  visit("best", state.best);
  visit("best_step", state.best_step);
  visit("without_better", state.without_better);
  visit("evaluation_pending", state.evaluation_pending);
}

template <class State, class Visit>
void visit_state(State& state, Visit&& visit) {
  visit("step", state.step);
  visit("stream.epoch", state.stream.epoch);
  visit("stream.window", state.stream.chunk);  // the name in existing files
  visit("stream.batch", state.stream.batch);
  visit("target_tokens", state.target_tokens);
  visit("seconds", state.seconds);
  visit("interval.loss", state.interval.loss);
  visit("interval.nll", state.interval.nll);
  visit("interval.tokens", state.interval.tokens);
  visit("interval.began", state.interval.began);
  visit_evaluation(state, visit);
}

// Adds a field to the metadata of a file, as the shortest exact text.
auto field_writer(std::map<std::string, std::string>& metadata) {
  return [&metadata](const char* name, const auto& value) {
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    metadata[name] = std::string(buffer, end);
  };
}

// Reads a field from the metadata of a file. Throws DataError.
auto field_reader(const SafetensorsFile& file, const std::filesystem::path& path) {
  return [&file, &path](const std::string& name, auto& value) {
    const auto found = file.metadata().find(name), none = file.metadata().end();
    if (found == none && name.starts_with("interval.")) return;  // of an earlier version
    const std::string text = found == none ? "" : found->second;
    const auto parsed = parse_number<std::decay_t<decltype(value)>>(text);
    if (!parsed || (std::is_integral_v<std::decay_t<decltype(value)>> && *parsed < 0)) {
      throw DataError(path.string() + ": missing or invalid \"" + name + "\" in the metadata");
    }
    value = *parsed;
  };
}

// The tensors of the training state: the optimizer's, and with an average the weights, since the
// weights file has the average.
void visit_tensors(Trainer& trainer, const OptimizerState& whole,
                   const Optimizer::VisitState& visit) {
  trainer.optimizer().visit_state(whole, visit);
  if (!trainer.average().exists()) return;
  for (const auto& slot : trainer.parameters().slots()) {
    visit("weights." + slot.name, FlatParameters::view(trainer.parameters().values, slot));
  }
}

}  // namespace

void save_weights(const std::filesystem::path& path, const torch::nn::Module& model,
                  const std::map<std::string, std::string>& metadata) {
  TensorList tensors;
  for (const auto& parameter : model.named_parameters()) {
    tensors.add(parameter.key(), parameter.value());
  }
  tensors.write(path, metadata);
}

void load_weights(const std::filesystem::path& path, torch::nn::Module& model) {
  const SafetensorsFile file = open_checked(path);
  auto parameters = model.named_parameters();
  for (const TensorView& view : file.tensors()) {
    if (parameters.contains(view.name)) continue;
    throw DataError(path.string() + ": the model has no parameter " + view.name +
                    "; the checkpoint belongs to a different config");
  }
  const torch::NoGradGuard no_grad;
  for (auto& parameter : parameters) {
    copy_into(parameter.value(), file.at(parameter.key()), path);
  }
}

WeightsLoaded load_fitting_weights(const std::filesystem::path& path, torch::nn::Module& model,
                                   const InitialWeights& initial) {
  const SafetensorsFile file = open_checked(path);
  WeightsLoaded result;
  std::set<std::string> known;
  for (auto& parameter : model.named_parameters()) {
    const std::string& name = parameter.key();
    known.insert(name);
    ++result.parameters;
    const TensorView* view = file.find(name);
    torch::Tensor into = parameter.value();
    const auto shape = into.sizes().vec(), found = view ? view->shape : std::vector<int64_t>();
    const bool longer = initial.extended.contains(name) && found.size() == 2 &&
                        found[1] == shape[1] && found[0] < shape[0];
    const bool other = initial.excluded.contains(name);
    if (view == nullptr || other || (found != shape && !longer)) {
      result.notes.push_back(name + (view == nullptr ? ": not in the checkpoint; initialized"
                                     : other ? ": belongs to another vocabulary; initialized"
                                             : ": " + shape_text(found) + " in the checkpoint, " +
                                                   shape_text(shape) + " here; initialized"));
      continue;
    }
    if (longer) {
      result.notes.push_back(c10::str(name, ": the first ", found[0], " of ", shape[0],
                                      " rows loaded, the others initialized"));
      into = into.narrow(0, 0, found[0]);
    }
    copy_into(into, *view, path);
    ++result.loaded;
  }
  for (const TensorView& view : file.tensors()) {
    if (known.contains(view.name)) continue;
    result.notes.push_back(view.name + ": not in this model; ignored");
  }
  return result;
}

void average_weights(const std::vector<std::filesystem::path>& inputs,
                     const std::filesystem::path& out) {
  if (inputs.empty()) throw DataError("no checkpoint to average");
  // Sums in float64: the order of the checkpoints changes no bit of usual weights.
  std::vector<std::pair<std::string, torch::Tensor>> sums;
  for (const auto& path : inputs) {
    const SafetensorsFile file = open_checked(path);
    if (sums.empty()) {
      for (const TensorView& view : file.tensors()) {
        sums.emplace_back(view.name, torch::zeros(view.shape, torch::kFloat64));
      }
    }
    if (file.tensors().size() != sums.size()) {
      throw DataError(path.string() + ": has " + std::to_string(file.tensors().size()) +
                      " tensors, expected " + std::to_string(sums.size()));
    }
    for (auto& [name, sum] : sums) {
      torch::Tensor part = torch::empty(sum.sizes(), torch::kFloat32);
      copy_into(part, file.at(name), path);
      sum += part;
    }
  }
  TensorList tensors;
  for (const auto& [name, sum] : sums) {
    tensors.add(name, sum / static_cast<double>(inputs.size()));
  }
  tensors.write(out, {{"averaged", std::to_string(inputs.size())}});
}

void save_training_state(const std::filesystem::path& path, Trainer& trainer,
                         const OptimizerState& whole) {
  TensorList tensors;
  visit_tensors(trainer, whole, [&](const std::string& name, const torch::Tensor& values) {
    tensors.add(name, values);
  });
  std::map<std::string, std::string> metadata;
  visit_state(trainer.state, field_writer(metadata));
  tensors.write(path, metadata);
}

void load_training_state(const std::filesystem::path& path, Trainer& trainer,
                         const OptimizerState& whole) {
  const SafetensorsFile file = open_checked(path);
  std::set<std::string> names;
  visit_tensors(trainer, whole,
                [&](const std::string& name, const torch::Tensor&) { names.insert(name); });
  for (const TensorView& view : file.tensors()) {
    if (names.contains(view.name)) continue;
    throw DataError(path.string() + ": unexpected tensor " + view.name +
                    ": this optimizer has no such state; the checkpoint belongs to a different "
                    "config or version");
  }
  trainer.average().restart();  // the weights just loaded; those of training follow
  visit_tensors(trainer, whole, [&](const std::string& name, const torch::Tensor& values) {
    copy_into(values, file.at(name), path);
  });
  TrainState read;
  visit_state(read, field_reader(file, path));
  trainer.state = read;
}

void save_evaluation(const std::filesystem::path& path, const TrainState& state) {
  std::map<std::string, std::string> metadata;
  visit_evaluation(state, field_writer(metadata));
  write_safetensors(path, {}, metadata);
}

void load_evaluation(const std::filesystem::path& path, TrainState& state) {
  const SafetensorsFile file(path);
  TrainState read = state;
  visit_evaluation(read, field_reader(file, path));
  state = read;
}

}  // namespace attn
