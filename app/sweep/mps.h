// NVIDIA's Multi-Process Service (MPS): the kernels of runs that share a GPU overlap, instead of
// taking turns. One run of Table 3's small models fills a tenth of a GPU.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace attn {

/// RAII: an MPS server of this user, whose control program is nvidia-cuda-mps-control.
class MpsServer {
 public:
  /// Starts a server with its pipes and logs in `folder`, on a local disk, or takes the one that is
  /// there: of a killed sweep, or of another process, which then ends it. Nothing is started if the
  /// control program is not in PATH, or if a server answers already, which the runs then share.
  explicit MpsServer(const std::filesystem::path& folder);
  /// The folder of a sweep's server in the system's temporary directory.
  static std::filesystem::path folder_of(const std::filesystem::path& sweep);
  ~MpsServer();
  MpsServer(const MpsServer&) = delete;
  MpsServer& operator=(const MpsServer&) = delete;

  /// For the log: "MPS: …"; empty without a control program.
  const std::string& note() const { return note_; }
  /// For the environment of a run; empty if there is no server of this sweep.
  const std::map<std::string, std::string>& environment() const { return environment_; }

 private:
  std::map<std::string, std::string> environment_;
  int lock_ = -1;  ///< descriptor; held by the process that ends the server
  std::string note_;
};

}  // namespace attn
