#include "app/machine/exit_report.h"

#include <exception>
#include <new>

#include "kernels/libtorch.h"
#include "train/trainer.h"

namespace attn {

ExitReport exit_report() {
  try {
    throw;
  } catch (const UserError& error) {
    return {error.what(), error.code()};
  } catch (const NonFiniteLoss& error) {
    return {error.what()};
  } catch (const std::bad_alloc&) {
    return {"out of memory; reduce data.batch_tokens"};
  } catch (const c10::OutOfMemoryError&) {
    return {"out of GPU memory; reduce data.batch_tokens"};
  } catch (const c10::Error& error) {
    return {error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {error.what()};
  }
}

}  // namespace attn
