// A job that waits, for times that are declared or drawn.
//
// Problem: schedulers, runners and views must be tried out with hundreds of stages of known length, and after
// kills at any moment. Idea: the list of stages is repeated; each stage sleeps. Its time is declared, or
// drawn by quantiles from a seed and the stage's index, so that it is the same in whichever process it runs.
// If it is split, each part has its share of the repetitions, and the whole job the end.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/status.h"
#include "kinds/kind_functions.h"
#include "work/job/settings.h"

namespace attune {
namespace {

struct MockStage {
  std::string name;
  int processors = 1;
  bool uses_device = false;
  int64_t memory_bytes = 0;
  SecondsPrediction seconds = {};
};

struct MockSettings {
  std::vector<MockStage> begin, stages, end;  // `stages` are repeated, the others are not
  int64_t repeat = 1;
  uint64_t seed = 0;

  int64_t num_stages() const { return std::ssize(begin) + repeat * std::ssize(stages) + std::ssize(end); }
  const MockStage& At(int64_t index) const {
    if (index < std::ssize(begin)) return begin[static_cast<size_t>(index)];
    index -= std::ssize(begin);
    if (index < repeat * std::ssize(stages)) return stages[static_cast<size_t>(index % std::ssize(stages))];
    return end[static_cast<size_t>(index - repeat * std::ssize(stages))];
  }
  // The share of this part of the job, or of the whole job if that has parts.
  void TakePart(int part, int parts) {
    if (parts == 1) return;
    const int64_t all = std::exchange(repeat, 0);
    if (part > 0) {
      repeat = all * part / parts - all * (part - 1) / parts;
      end.clear();
    }
  }
};

constexpr double kMostSeconds = 1e7;

absl::StatusOr<MockStage> ReadStage(const nlohmann::json& object) {
  MockStage stage;
  SettingsReader reader(object, "");
  constexpr int kMostProcessors = 1 << 16;
  reader.Read("name", stage.name, /*needed=*/true);
  reader.Read("processors", stage.processors, 1, kMostProcessors);
  reader.Read("device", stage.uses_device);
  reader.Read("memory_bytes", stage.memory_bytes, 0, INT64_MAX);
  if (const nlohmann::json seconds = reader.ReadJson("seconds"); !seconds.is_null()) {
    const std::optional<SecondsPrediction> read = PredictionOfJson(seconds, kMostSeconds);
    if (!read.has_value()) reader.Fail("seconds", "is neither a time nor three that ascend");
    stage.seconds = read.value_or(SecondsPrediction());
  }
  RETURN_IF_ERROR(reader.Finish());
  return stage;
}

absl::StatusOr<MockSettings> ReadSettings(const JobSpec& spec) {
  MockSettings settings;
  SettingsReader reader(spec.settings, spec.base);
  int64_t seed = 0;
  constexpr int64_t kMostRounds = 1'000'000;
  reader.Read("repeat", settings.repeat, 1, kMostRounds);
  reader.Read("seed", seed, 0, INT64_MAX);
  settings.seed = static_cast<uint64_t>(seed);
  const auto read = [&](const char* name, bool is_needed, std::vector<MockStage>& stages) {
    for (const nlohmann::json& object : reader.ReadObjects(name, is_needed)) {
      absl::StatusOr<MockStage> stage = ReadStage(object);
      if (stage.ok()) {
        stages.push_back(*std::move(stage));
      } else {
        reader.Fail(name, stage.status().message());
      }
    }
  };
  read("begin", /*is_needed=*/false, settings.begin);
  read("stages", /*is_needed=*/true, settings.stages);
  read("end", /*is_needed=*/false, settings.end);
  if (settings.stages.empty()) reader.Fail("stages", "is empty");
  RETURN_IF_ERROR(reader.Finish());
  return settings;
}

JobStage StageOf(const MockStage& mock, const std::string& device) {
  JobStage stage{.name = mock.name, .needs = {}, .memory_bytes = mock.memory_bytes, .seconds = {}};
  stage.needs.push_back({.key = mock.uses_device ? device : kProcessorsKey,
                         .amount = mock.processors,
                         .exclusive = mock.uses_device});
  stage.seconds = mock.seconds;
  return stage;
}

class MockJob final : public Job {
 public:
  MockJob(MockSettings settings, const JobPlace& place)
      : id_(place.id), settings_(std::move(settings)), device_(DeviceOf(place)), position_(place.position) {}

  const std::string& id() const override { return id_; }

  std::optional<JobStage> Next() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int64_t next = position_ + (runs_ ? 1 : 0);
    if (next >= settings_.num_stages()) return std::nullopt;
    return StageOf(settings_.At(next), device_);
  }

  absl::Status Run(const JobGrant&) override {
    SetRuns(true);
    const double seconds = Draw(position_);
    const Stopwatch watch;
    constexpr int kPauseMillis = 10;
    while (watch.Seconds() < seconds && !is_cancelled_.load())
      poll(nullptr, 0, static_cast<int>(std::min(kPauseMillis * 1.0, 1e3 * (seconds - watch.Seconds()) + 1)));
    SetRuns(false);
    if (is_cancelled_.load()) return absl::CancelledError("the job was cancelled");
    const std::lock_guard<std::mutex> lock(mutex_);
    spent_ += watch.Seconds();
    ++position_;
    return absl::OkStatus();
  }

  void Cancel() override { is_cancelled_.store(true); }

  double SpentSeconds() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return spent_;
  }

  double RemainingSeconds() const override {
    double seconds = 0;
    for (int64_t i = position_; i < settings_.num_stages(); ++i) seconds += settings_.At(i).seconds.median;
    return seconds;
  }

  std::string Progress() const override {
    return absl::StrCat(position_, " of ", settings_.num_stages(), " stages");
  }
  std::string Result() const override { return nlohmann::json({{"stages", settings_.num_stages()}}).dump(); }

 private:
  // Between the quantiles linearly, and not beyond them by more than the tenth that lies beyond.
  double Draw(int64_t index) const {
    const auto [low, median, high] = settings_.At(index).seconds;
    const double u = Random(settings_.seed * 1'000'003 + static_cast<uint64_t>(index)).Uniform();
    constexpr double kHalf = 0.5, kStep = 0.4;
    const double slope = u < kHalf ? median - low : high - median;
    return std::max(0.0, median + (u - kHalf) / kStep * slope);
  }
  void SetRuns(bool runs) {
    const std::lock_guard<std::mutex> lock(mutex_);
    runs_ = runs;
  }

  const std::string id_;
  const MockSettings settings_;
  const std::string device_;
  std::atomic<bool> is_cancelled_ = false;

  mutable std::mutex mutex_;  // for the following
  int64_t position_;
  bool runs_ = false;
  double spent_ = 0;
};

}  // namespace

absl::Status CheckMockJob(const JobSpec& spec) { return ReadSettings(spec).status(); }

absl::StatusOr<std::unique_ptr<Job>> OpenMockJob(const JobSpec& spec, const JobPlace& place) {
  ASSIGN_OR_RETURN(MockSettings settings, ReadSettings(spec));
  settings.TakePart(spec.part, spec.parts);
  return std::make_unique<MockJob>(std::move(settings), place);
}

std::vector<JobStage> ForeseeMockJob(const JobSpec& spec, const JobPlace& place) {
  std::vector<JobStage> stages;
  const absl::StatusOr<MockSettings> settings = ReadSettings(spec);
  if (!settings.ok()) return stages;
  for (const auto* list : {&settings->begin, &settings->stages, &settings->end})
    for (const MockStage& mock : *list) stages.push_back(StageOf(mock, DeviceOf(place)));
  return stages;
}

}  // namespace attune
