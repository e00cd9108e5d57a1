#include "tune/task/local_builder.h"

#include <algorithm>
#include <utility>

#include "base/process/message.h"
#include "base/status.h"
#include "tune/task/build_worker.h"
#include "tune/task/codec.h"

namespace attune {
namespace {

constexpr double kSendSeconds = 10;  // for an idle worker to accept its request

// The result that follows from an answer of the pool.
BuildResult Judge(const absl::StatusOr<std::string>& answer, const ProcessEnd& end, double seconds_limit) {
  BuildResult result;
  absl::Status status = answer.status();
  if (answer.ok()) {
    absl::StatusOr<BuildResult> decoded = DecodeBuildResult(*answer);
    if (decoded.ok()) return *std::move(decoded);
    status = decoded.status();
  }
  if (absl::IsAborted(status)) {
    result.reason = std::string(status.message());
  } else if (absl::IsUnavailable(status)) {
    result.outcome = OutcomeOf(end);
    result.reason = absl::StrCat("the builder ended with ", end.reason);
  } else if (absl::IsDeadlineExceeded(status)) {
    result.outcome = TrialOutcome::kTimedOut;
    result.reason = absl::StrCat("building took longer than ", seconds_limit, " s");
    result.seconds = seconds_limit;
  } else {
    result.outcome = TrialOutcome::kCrashed;
    result.reason = absl::StrCat("the builder failed: ", status.message());
  }
  return result;
}

WorkerPoolOptions PoolOptions(const LocalBuilderOptions& options) {
  return {.kind = kBuilderKind,
          .program = options.worker_program,
          .limits = {options.address_space_bytes},
          .start_seconds_limit = options.start_seconds_limit,
          .set_up = [set_up = EncodeBuildSetUp({options.seconds_limit, options.target})](
                        WorkerProcess& worker) { return worker.Send(set_up, After(kSendSeconds)); }};
}

}  // namespace

LocalBuilder::LocalBuilder(LocalBuilderOptions options)
    : options_(std::move(options)), pool_(PoolOptions(options_)) {}

std::vector<BuildResult> LocalBuilder::Build(std::span<const BuildRequest> requests) {
  std::vector<BuildResult> results(requests.size());
  PooledRequests pooled;
  pooled.count = requests.size();
  pooled.at_once = static_cast<size_t>(std::max(1, options_.processes));
  pooled.send = [&](WorkerProcess& worker, size_t i) {
    return worker.Send(EncodeBuildRequest(requests[i]), After(kSendSeconds));
  };
  pooled.seconds_limit = [&](size_t) { return options_.seconds_limit; };
  pooled.answered = [&](size_t i, const auto& answer, const ProcessEnd& end, int64_t) {
    results[i] = Judge(answer, end, options_.seconds_limit);
  };
  pool_.Run(pooled);
  return results;
}

}  // namespace attune
