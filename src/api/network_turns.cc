#include "api/network_turns.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "device/affinity.h"
#include "measure/timing.h"

namespace attune {
namespace {

constexpr double kProfileSeconds = 5;
constexpr size_t kLeastRounds = 16;  // however long they take

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A network in several places of memory, by turns.
class NetworkRunner final : public BatchRunner {
 public:
  NetworkRunner(const Network& network, int threads) : network_(network), threads_(threads) {}

  // In one more place.
  absl::Status Add() {
    ASSIGN_OR_RETURN(auto model, CompiledModel::FromBytes(network_.artifact()));
    if (model_ == nullptr) model_ = model;
    ASSIGN_OR_RETURN(Session session, Session::Create(std::move(model), threads_));
    constexpr uint64_t kSeed = 0;
    ASSIGN_OR_RETURN(const std::vector<NamedTensor> inputs, network_.Complete({}, kSeed));
    RETURN_IF_ERROR(session.SetInputs(inputs));
    sessions_.push_back(std::move(session));
    return absl::OkStatus();
  }

  std::optional<Failure> Run(int64_t executions, double* seconds) override {
    Session& session = sessions_[moves_ % sessions_.size()];
    const double start = Now();
    for (int64_t i = 0; i < executions; ++i) {
      if (const absl::Status status = session.Run(); !status.ok()) {
        return Failure{TrialOutcome::kRetry, std::string(status.message())};
      }
    }
    *seconds = Now() - start;
    return std::nullopt;
  }

  std::optional<Failure> Move() override {
    ++moves_;
    return std::nullopt;
  }

  // One inference elsewhere in memory, after one that fills the caches.
  absl::Status Profile() {
    ++moves_;
    Session& session = sessions_[moves_ % sessions_.size()];
    RETURN_IF_ERROR(session.Run());
    ASSIGN_OR_RETURN(const std::vector<uint64_t> nanoseconds, session.RunProfiled());
    std::map<std::string, double> seconds;
    for (size_t i = 0; i < nanoseconds.size(); ++i) {
      attune_instruction_info instruction;
      attune_model_instruction(model_->handle(), i, &instruction, nullptr);
      if (instruction.kernel < 0) continue;
      attune_kernel_info kernel;
      attune_model_kernel(model_->handle(), static_cast<size_t>(instruction.kernel), &kernel, nullptr);
      seconds[kernel.digest] += 1e-9 * static_cast<double>(nanoseconds[i]);
    }
    for (const auto& [digest, sum] : seconds) kernels_[digest].push_back(sum);
    return absl::OkStatus();
  }

  // Of each profile, by their digests.
  const std::map<std::string, std::vector<double>>& kernel_seconds() const { return kernels_; }

 private:
  const Network& network_;
  int threads_;
  std::shared_ptr<const CompiledModel> model_;
  std::vector<Session> sessions_;
  size_t moves_ = 0;
  std::map<std::string, std::vector<double>> kernels_;
};

// Places for both, by turns, since memory that is given later tends to be better.
absl::Status AddPlaces(const Network& network, NetworkRunner& untuned, NetworkRunner& tuned) {
  constexpr size_t kMostPlaces = 8, kMostBytes = size_t{1} << 30;
  const size_t places = std::clamp<size_t>(kMostBytes / network.artifact().size(), 2, kMostPlaces);
  for (size_t i = 0; i < places; ++i) {
    RETURN_IF_ERROR((i % 2 == 0 ? untuned : tuned).Add());
    RETURN_IF_ERROR((i % 2 == 0 ? tuned : untuned).Add());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<NetworkTimes> TimeNetworks(const Network& untuned, const Network& tuned, int threads,
                                          double seconds) {
  RETURN_IF_ERROR(untuned.status());
  RETURN_IF_ERROR(tuned.status());
  const OnSameProcessors processors(threads);
  NetworkRunner incumbent(untuned, threads), candidate(tuned, threads);
  RETURN_IF_ERROR(AddPlaces(tuned, incumbent, candidate));
  MeasureOptions options;
  options.precision = 0.001;
  options.seconds_limit = seconds;
  options.abandon_ratio = 0;
  options.max_batches = 5000;
  Measurement measurement;
  TimeInTurns(candidate, &incumbent, 0, options, &measurement);
  if (measurement.outcome != TrialOutcome::kOk) {
    return absl::InternalError(
        absl::StrCat(tuned.source(), ": the network cannot be measured: ", measurement.reason));
  }
  return NetworkTimes{measurement.incumbent_seconds, measurement.incumbent_seconds * measurement.ratio,
                      measurement.ratio_low, measurement.ratio_high};
}

absl::StatusOr<NetworkProfile> ProfileNetworks(const Network& untuned, const Network& tuned, int threads) {
  RETURN_IF_ERROR(untuned.status());
  RETURN_IF_ERROR(tuned.status());
  const OnSameProcessors processors(threads);
  NetworkRunner incumbent(untuned, threads), candidate(tuned, threads);
  RETURN_IF_ERROR(AddPlaces(tuned, incumbent, candidate));
  const double end = Now() + kProfileSeconds;
  for (size_t round = 0; round < kLeastRounds || Now() < end; ++round) {
    RETURN_IF_ERROR(incumbent.Profile());
    RETURN_IF_ERROR(candidate.Profile());
  }
  return NetworkProfile{incumbent.kernel_seconds(), candidate.kernel_seconds()};
}

}  // namespace attune
