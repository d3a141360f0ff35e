// The real NCCL, with two processes of one GPU, which it takes for two machines (NCCL_HOSTID).
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/file.h"
#include "base/format.h"
#include "tests/support/catch.h"
#include "tests/support/copying_task.h"
#include "tests/support/skip.h"
#include "tests/support/temporary_directory.h"
#include "tests/train/parallel/trained.h"
#include "train/parallel/communicator.h"
#include "train/parallel/nccl_communicator.h"

using namespace attn;

namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// The weights after five updates by two processes of this program, as bytes.
std::string trained(bool over_nccl) {
  const testing::TemporaryDirectory folder;
  const auto server = testing::local_store();
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string command =
      "export NCCL_SOCKET_IFNAME=lo NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 "
      "NCCL_MULTI_RANK_GPU_ENABLE=1";
  for (const int rank : {1, 0}) {
    command += format(
        "; NCCL_HOSTID=host%d ATTN_RANK=%d ATTN_PORT=%d ATTN_NCCL=%d ATTN_OUTPUT='%s' "
        "'%s' '[process]' > '%s' 2>&1 %s",
        rank, rank, server->getPort(), over_nccl, (folder.path() / "weights").c_str(),
        program.c_str(), (folder.path() / std::to_string(rank)).c_str(),
        rank > 0 ? "& other=$!" : "&& wait $other");
  }
  const int end = std::system(command.c_str());
  INFO(read_file(folder.path() / "0") << read_file(folder.path() / "1"));
  REQUIRE(end == 0);
  return read_file(folder.path() / "weights");
}

}  // namespace

TEST_CASE("two processes of a GPU have the same weights by NCCL as through the host", "[gpu]") {
  if (!testing::machine_has(torch::cuda::is_available(), "GPU")) return;
  CHECK(trained(true) == trained(false));
}

TEST_CASE("a process of the test above", "[.][process]") {
  const torch::Device device(torch::kCUDA, 0);
  const int64_t rank = std::stol(variable("ATTN_RANK"));
  auto world = join_store({.host = "127.0.0.1",
                           .port = std::stol(variable("ATTN_PORT")),
                           .prefix = "group/",
                           .rank = rank,
                           .size = 2});
  const bool over_nccl = variable("ATTN_NCCL") == "1";
  if (over_nccl) world = with_nccl(std::move(world), device);
  REQUIRE(world->reaches_device() == over_nccl);
  testing::CopyingTask task(testing::copying_training(), 60, testing::copying_model(), device,
                            {.world = *world});
  task.train_to(5);
  const torch::Tensor weights = task.weights().cpu();
  if (rank == 0) {
    write_file_atomically(variable("ATTN_OUTPUT"),
                          {static_cast<const char*>(weights.const_data_ptr()), weights.nbytes()});
  }
  world->leave();
}
