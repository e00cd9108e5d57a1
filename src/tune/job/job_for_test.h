// For tests: tuning jobs whose builder, measurer and clocks are stand-ins, on a database of their own.
#ifndef ATTUNE_TUNE_JOB_JOB_FOR_TEST_H_
#define ATTUNE_TUNE_JOB_JOB_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "tune/job/job.h"
#include "tune/records/records_for_test.h"
#include "tune/task/space.h"
#include "tune/task/tasks_for_test.h"

namespace attune {

// What builds and measures: how it goes, how long it takes by the machine's own clock, and what was asked
// for. Code is a text that names its candidate.
struct FakeMachine {
  using Outcome = std::function<TrialOutcome(const TuningTask&, const Candidate&)>;
  struct Asked {
    std::string task;  // its text
    Candidate candidate;
    MeasureOptions options = {};
    bool in_turns = false;  // with an incumbent

    std::string name() const { return task + ToString(candidate.strategy, candidate.config); }
    auto operator<=>(const Asked& other) const { return name() <=> other.name(); }
    bool operator==(const Asked& other) const { return name() == other.name(); }
  };

  Outcome build = [](const auto&, const auto&) { return TrialOutcome::kOk; };
  Outcome run = [](const auto&, const auto&) { return TrialOutcome::kOk; };
  // Of one execution, as the `nth` measurement of the candidate finds it, from 0; > 0.
  std::function<double(const TuningTask&, const Candidate&, int nth)> seconds =
      [](const auto& task, const auto& candidate, int /*nth*/) { return HashedSeconds(task, candidate); };
  std::function<void()> before_measuring = [] {};
  double build_seconds = 0.25, measure_seconds = 0.5;  // that each takes

  double now = 1000;
  std::vector<Asked> built, measured;
  std::map<std::string, Candidate> code;    // by digest
  std::map<std::string, double> last_time;  // likewise
  std::map<std::string, int> times;         // that it was measured, likewise

  // Between 1 and 2 ms, at random, such that no default is among the fastest.
  static double HashedSeconds(const TuningTask& task, const Candidate& candidate) {
    constexpr uint64_t kMany = 1'000'003, kSalt = 1;
    const uint64_t hash = CandidateHash()(candidate) ^ std::hash<std::string>()(task.text) ^ kSalt << 40;
    return 1e-3 * (1 + static_cast<double>(hash % kMany) / kMany);
  }
};

class FakeBuilder final : public Builder {
 public:
  explicit FakeBuilder(FakeMachine& machine) : machine_(machine) {}

  std::vector<BuildResult> Build(std::span<const BuildRequest> requests) override {
    std::vector<BuildResult> results;
    for (const auto& [task, candidate] : requests) {
      machine_.built.push_back({task->text, candidate});
      machine_.now += machine_.build_seconds;
      BuildResult& result = results.emplace_back();
      result.outcome = machine_.build(*task, candidate);
      result.seconds = machine_.build_seconds;
      result.kernel.code_digest = Sha256Hex(machine_.built.back().name());
      machine_.code[result.kernel.code_digest] = candidate;
      if (result.outcome == TrialOutcome::kOk) continue;
      result.reason = absl::StrCat("building: ", Name(result.outcome));
      result.kernel = {};
    }
    return results;
  }

 private:
  FakeMachine& machine_;
};

class FakeMeasurer final : public Measurer {
 public:
  explicit FakeMeasurer(FakeMachine& machine) : machine_(machine) {}

  Measurement Measure(const TuningTask& task, const BuiltKernel& kernel, const MeasureOptions& options,
                      const Incumbent* incumbent) override {
    machine_.before_measuring();
    const Candidate& candidate = machine_.code.at(kernel.code_digest);
    machine_.measured.push_back({task.text, candidate, options, incumbent != nullptr});
    machine_.now += machine_.measure_seconds;
    Measurement m;
    m.seconds = machine_.measure_seconds;
    m.outcome = machine_.run(task, candidate);
    if (m.outcome != TrialOutcome::kOk) {
      m.reason = absl::StrCat("running: ", Name(m.outcome));
      return m;
    }
    const double seconds = machine_.seconds(task, candidate, machine_.times[kernel.code_digest]++);
    machine_.last_time[kernel.code_digest] = seconds;
    m.timing = {seconds, 0.99 * seconds, 1.01 * seconds, 100};
    if (incumbent == nullptr) return m;
    m.incumbent_seconds = machine_.last_time.at(incumbent->kernel->code_digest);
    m.ratio = seconds / m.incumbent_seconds;
    m.ratio_low = 0.99 * m.ratio;
    m.ratio_high = 1.01 * m.ratio;
    m.is_ratio_sure = true;
    m.normalized_seconds = incumbent->seconds * m.ratio;
    return m;
  }

 private:
  FakeMachine& machine_;
};

class TuningJobTest : public testing::Test {
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

  static constexpr double kBound = 1e-5;  // the roofline's seconds of all tasks

  TuningTools Tools() {
    TuningTools tools;
    tools.builder = &builder_;
    tools.measurer = &measurer_;
    tools.records = records_.get();
    tools.model = model_.get();
    tools.events = events_.get();
    tools.now = [this] { return machine_.now; };
    tools.wall_clock = [this] { return static_cast<int64_t>(1e3 * machine_.now); };
    tools.measure_network = [this](const std::map<std::string, Candidate>& best) {
      networks_.push_back(best);
      return time_network_ == nullptr ? network_ : time_network_(best);
    };
    tools.block_classes = static_cast<int>(layouts_.size());
    tools.try_layout = [this](int block_class, const std::map<std::string, Candidate>&, std::optional<bool>) {
      tried_.push_back(block_class);
      return layouts_[static_cast<size_t>(block_class)];
    };
    if (compare_ == nullptr) return tools;
    tools.profile_network = [this](const std::map<std::string, Candidate>& best) {
      compared_.push_back(best);
      NetworkProfile profile;
      for (const auto& [digest, candidate] : machine_.code) {
        // Each turn the machine has another speed, for both alike but for how sure it is.
        for (int turn = 0; turn < 16; ++turn) {
          const double speed = 1 + 0.5 * turn,
                       noise = turn % 2 == 0 ? 1 - compare_noise_ : 1 + compare_noise_;
          profile.untuned[digest].push_back(1e-3 * speed);
          profile.tuned[digest].push_back(1e-3 * speed * noise * compare_(candidate));
        }
      }
      return profile;
    };
    return tools;
  }

  // A job of a run that is begun, or goes on where the database has it.
  std::unique_ptr<TuningJob> Make(const TuningOptions& options, const std::string& run = "run") {
    const TuningRun begun = SampleRun(run);
    const absl::Status status = records_->BeginRun(begun);
    EXPECT_TRUE(status.ok() || absl::IsAlreadyExists(status)) << status;
    const std::vector<double> bounds(tasks_.size(), kBound);
    auto job = TuningJob::Create(tasks_, bounds, target_, options, begun, Tools());
    EXPECT_TRUE(job.ok()) << job.status();
    return *std::move(job);
  }

  // Runs one stage, and says which it was.
  static StageKind Step(TuningJob& job) {
    const StageKind kind = job.Next().value().kind;
    const absl::Status status = job.RunNext();
    EXPECT_TRUE(status.ok()) << status;
    return kind;
  }
  // Runs the stages up to the first that is of this kind.
  static void RunUntil(TuningJob& job, StageKind kind) {
    while (job.Next().has_value() && job.Next()->kind != kind) Step(job);
  }
  // Runs all, and gives their initials.
  static std::string Finish(TuningJob& job) {
    std::string initials;
    while (job.Next().has_value()) initials += Name(Step(job)).front();
    return initials;
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
  // Those of one task, in order.
  static std::vector<Candidate> Of(const TuningTask& task, const std::vector<FakeMachine::Asked>& asked) {
    std::vector<Candidate> candidates;
    for (const FakeMachine::Asked& one : asked) {
      if (one.task == task.text) candidates.push_back(one.candidate);
    }
    return candidates;
  }

  const RecordsFolder folder_;
  const Target target_ = *TargetByName("znver4");
  std::vector<TuningTask> tasks_;
  std::unique_ptr<RecordDatabase> records_ = MustOpen(folder_ / "records.db");
  FakeMachine machine_;
  FakeBuilder builder_{machine_};
  FakeMeasurer measurer_{machine_};
  std::unique_ptr<CostModel> model_;
  std::unique_ptr<EventLog> events_ = *EventLog::Open("", "run", [this] { return machine_.now; });
  absl::StatusOr<NetworkTimes> network_ = NetworkTimes{0.02, 0.01, 0.49, 0.51};
  std::function<NetworkTimes(const std::map<std::string, Candidate>&)> time_network_;  // null: as above
  std::vector<std::map<std::string, Candidate>> networks_;                             // that were measured
  // How many times as long as the default a candidate takes within the network; null: nobody asks.
  std::function<double(const Candidate&)> compare_;
  double compare_noise_ = 0;                                // a turn's, relative
  std::vector<std::map<std::string, Candidate>> compared_;  // within the network
  std::vector<LayoutTrial> layouts_;                        // what comes of flipping each class of maps
  std::vector<int> tried_;                                  // of these
  std::map<std::string, Candidate> defaults_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_JOB_FOR_TEST_H_
