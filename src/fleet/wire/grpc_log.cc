#include "fleet/wire/grpc_log.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <mutex>
#include <string>

#include "base/log.h"

namespace attune {

void LogGrpcForDebugging() {
  static std::once_flag once;
  std::call_once(once, [] {
    gpr_set_log_function([](gpr_log_func_args* args) {
      Log(LogLevel::kDebug, "gRPC", "file", args->file, "line", args->line, "message", args->message);
    });
    // Anybody's message may be one that it complains of.
    google::protobuf::SetLogHandler(
        [](google::protobuf::LogLevel /*level*/, const char* file, int line, const std::string& message) {
          Log(LogLevel::kDebug, "protobuf", "file", file, "line", line, "message", message);
        });
  });
}

}  // namespace attune
