#include "fleet/wire/grpc_log.h"

#include <grpc/support/log.h>

#include <mutex>

#include "base/log.h"

namespace attune {

void LogGrpcForDebugging() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function([](gpr_log_func_args* args) {
      Log(LogLevel::kDebug, "gRPC", "file", args->file, "line", args->line, "message", args->message);
    });
  });
}

}  // namespace attune
