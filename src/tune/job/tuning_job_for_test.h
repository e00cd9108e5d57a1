// For tests: tuning jobs with a fake builder, device, compiler and clock, and their own database.
#ifndef ATTUNE_TUNE_JOB_TUNING_JOB_FOR_TEST_H_
#define ATTUNE_TUNE_JOB_TUNING_JOB_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tune/job/fakes_for_test.h"
#include "tune/job/tuning_job.h"
#include "tune/records/records_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {

class TuningJobTest : public ::testing::Test {
 protected:
  TuningJobTest() {
    tasks_ = {MakeTask(kWideConvTask, {1, 2}), MakeTask(kMatMulTask, {1})};
    for (size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].flops = 1e6;
      tasks_[i].uses = static_cast<int>(2 - i);
    }
  }

  static TuningOptions Options() {
    TuningOptions options;
    options.threads = 2;
    options.seed = 1;
    options.trials = 20;
    options.batch = 4;
    options.builders = 2;
    return options;
  }

  static constexpr double kBound = 1e-5;  // the roofline's time of all tasks

  TuningTools Tools() {
    return {.builder = &builder_,
            .service = &service_,
            .records = records_.get(),
            .model = model_.get(),
            .events = events_.get(),
            .recording = recording_.get(),
            .network = &network_,
            .clock = &machine_};
  }

  // A job whose run is new, or is resumed if the database has it.
  std::unique_ptr<TuningJob> Make(const TuningOptions& options, const std::string& run = "run") {
    const TuningRun begun = SampleRun(run);
    const absl::Status status = records_->BeginRun(begun);
    EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
    auto job = TuningJob::Create(target_, options, begun, Tools());
    EXPECT_TRUE(job.ok()) << job.status();
    return *std::move(job);
  }

  // Runs one stage, and returns its name.
  static std::string Step(TuningJob& job) {
    std::string name = job.Next().value().name;
    const absl::Status status = job.Run({});
    EXPECT_TRUE(status.ok()) << status;
    return name;
  }
  static bool IsNext(const TuningJob& job, StageKind kind) {
    return job.Next().has_value() && job.Next()->name == Name(kind);
  }
  // Runs all stages before the first one of this kind.
  static void RunUntil(TuningJob& job, StageKind kind) {
    while (job.Next().has_value() && !IsNext(job, kind)) Step(job);
  }
  // Whether the search is over.
  static bool IsFinal(const TuningJob& job) {
    for (auto kind = StageKind::kConfirmBuild; kind <= StageKind::kFinish;
         kind = static_cast<StageKind>(static_cast<int>(kind) + 1)) {
      if (IsNext(job, kind)) return true;
    }
    return false;
  }
  static void RunUntilFinal(TuningJob& job) {
    while (job.Next().has_value() && !IsFinal(job)) Step(job);
  }
  // Runs all remaining stages, and returns one letter for each.
  static std::string Finish(TuningJob& job) {
    // prepare, calibrate ("k"), select, build, check, time, learn; then pairs of capitals, one letter for
    // building and one for timing.
    static const std::map<std::string, char> kLetters = {
        {"prepare", 'p'},      {"calibrate", 'k'},     {"select", 's'},       {"build", 'b'},
        {"check", 'c'},        {"time", 't'},          {"learn", 'l'},        {"confirm_build", 'B'},
        {"confirm_time", 'C'}, {"compare_build", 'U'}, {"compare_time", 'V'}, {"layout_build", 'X'},
        {"layout_time", 'Y'},  {"network_build", 'M'}, {"network_time", 'N'}, {"finish", 'f'}};
    std::string letters;
    while (job.Next().has_value()) letters += kLetters.at(Step(job));
    return letters;
  }

  std::vector<Record> Records(const std::string& run = "run") {
    const auto records = records_->Records({.run = run});
    EXPECT_TRUE(records.ok()) << records.status();
    return *records;
  }
  TuningRun RunOf(const std::string& id = "run") {
    const auto runs = records_->Runs();
    EXPECT_TRUE(runs.ok()) << runs.status();
    for (const TuningRun& run : *runs) {
      if (run.id == id) return run;
    }
    ADD_FAILURE() << "no run " << id;
    return {};
  }

  Candidate DefaultOf(const TuningTask& task) const {
    const auto space = ConfigSpace::Create(task, target_);
    EXPECT_TRUE(space.ok()) << space.status();
    return space->Default();
  }
  bool IsDefault(const TuningTask& task, const Candidate& candidate) {
    const auto [it, is_new] = defaults_.try_emplace(task.text);
    if (is_new) it->second = DefaultOf(task);
    return candidate == it->second;
  }
  // The candidates of one task, in order.
  static std::vector<Candidate> Of(const TuningTask& task, const std::vector<FakeMachine::Asked>& asked) {
    std::vector<Candidate> candidates;
    for (const FakeMachine::Asked& one : asked) {
      if (one.task == task.text) candidates.push_back(one.candidate);
    }
    return candidates;
  }

  Measurement MeasureNetwork(const MeasureItem& item) {
    const FakeNetwork::Build &subject = network_.builds.at(item.subject),
                             &baseline = network_.builds.at(item.baseline);
    if (item.kind == MeasureItem::Kind::kProfileNetwork) return Profile(subject, baseline);
    Measurement m;
    m.outcome = TrialOutcome::kOk;
    NetworkTimes times;
    if (tried_.size() < layouts_.size() && subject.configs == baseline.configs) {
      const int tried = static_cast<int>(tried_.size());
      tried_.push_back(tried);
      times = layouts_.at(static_cast<size_t>(tried));
    } else {
      networks_.push_back(subject.configs);
      if (network_fails_) {
        m.outcome = TrialOutcome::kCrashed;
        m.reason = "the network crashes";
        return m;
      }
      times =
          time_network_ == nullptr ? NetworkTimes{0.02, 0.01, 0.49, 0.51} : time_network_(subject.configs);
    }
    m.timing = {times.tuned, times.tuned, times.tuned, 1};
    m.baseline_seconds = times.untuned;
    m.ratio = times.untuned > 0 ? times.tuned / times.untuned : 1;
    m.ratio_low = times.ratio_low;
    m.ratio_high = times.ratio_high;
    m.is_significant = true;
    return m;
  }

  Measurement Profile(const FakeNetwork::Build& subject, const FakeNetwork::Build& baseline) {
    if (compare_ != nullptr && subject.overrides == baseline.overrides) compared_.push_back(subject.configs);
    Measurement m;
    m.outcome = TrialOutcome::kOk;
    // Each turn has a different machine speed, the same for both, plus noise for the subject.
    for (int turn = 0; turn < 16; ++turn) {
      const double speed = 1 + 0.5 * turn, spread = compare_ == nullptr ? 0.1 : compare_noise_;
      const double noise = turn % 2 == 0 ? 1 - spread : 1 + spread;
      for (const auto& [group, digest] : baseline.code_digests)
        m.baseline_profile[digest].push_back(1e-3 * speed);
      for (const auto& [group, digest] : subject.code_digests) {
        const bool is_asked = compare_ != nullptr && machine_.code.contains(digest);
        const double factor = is_asked ? compare_(machine_.code.at(digest).candidate) : 1;
        m.profile[digest].push_back(1e-3 * speed * noise * factor);
      }
    }
    return m;
  }

  const RecordsFolder folder_;
  const Target target_ = *TargetByName("znver4");
  std::vector<TuningTask> tasks_;
  std::unique_ptr<RecordDatabase> records_ = MustOpen(folder_ / "records.db");
  FakeMachine machine_;
  FakeBuilder builder_{machine_};
  FakeNetwork network_{machine_, tasks_, target_};
  FakeService service_{machine_, [this](const MeasureItem& item) { return MeasureNetwork(item); }};
  std::unique_ptr<CostModel> model_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<EventLog> events_ = *EventLog::Open("", "run", machine_);
  bool network_fails_ = false;
  std::function<NetworkTimes(const BestConfigs&)> time_network_;  // null: it takes half as long
  std::vector<BestConfigs> networks_;                             // networks that were timed
  // The time of a candidate within the network relative to the baseline; null: about the same.
  std::function<double(const Candidate&)> compare_;
  double compare_noise_ = 0;           // of each turn, relative
  std::vector<BestConfigs> compared_;  // configs compared within the network
  std::vector<NetworkTimes> layouts_;  // the results of trying each class of layouts
  std::vector<int> tried_;             // classes tried
  std::map<std::string, Candidate> defaults_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TUNING_JOB_FOR_TEST_H_
