// For tests: a builder, a device, a compiler of networks and a clock that run nothing.
#ifndef ATTUNE_TUNE_JOB_FAKES_FOR_TEST_H_
#define ATTUNE_TUNE_JOB_FAKES_FOR_TEST_H_

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "measure/codec.h"
#include "measure/service.h"
#include "plan/group_kernel.h"
#include "tune/job/network_compiler.h"
#include "tune/task/builder.h"
#include "tune/task/space.h"

namespace attune {

// Seconds of one inference.
struct NetworkTimes {
  double untuned = 0, tuned = 0;
  double ratio_low = 0, ratio_high = 0;
};

// A fake machine that builds and measures: it sets the outcomes, advances its own clock, and logs all
// requests. Code is a text that names its candidate.
struct FakeMachine final : Clock {
  using Outcome = std::function<TrialOutcome(const TuningTask&, const Candidate&)>;
  struct Asked {
    std::string task;  // its text
    Candidate candidate;
    MeasureOptions options = {};
    bool is_interleaved = false;  // with the baseline

    std::string name() const { return task + ToString(candidate.strategy, candidate.config); }
    auto operator<=>(const Asked& other) const { return name() <=> other.name(); }
    bool operator==(const Asked& other) const { return name() == other.name(); }
  };
  struct Code {
    TuningTask task;
    Candidate candidate;
  };

  double Now() const override { return now; }
  int64_t WallMillis() const override { return static_cast<int64_t>(1e3 * now); }

  // The code digest of a candidate; its kernel is known from then on.
  std::string CodeOf(const TuningTask& task, const Candidate& candidate) {
    std::string digest = Sha256Hex(Asked{task.text, candidate}.name());
    code.insert_or_assign(digest, Code{task, candidate});
    return digest;
  }

  Outcome build = [](const auto&, const auto&) { return TrialOutcome::kOk; };
  Outcome check = [](const auto&, const auto&) { return TrialOutcome::kOk; };
  Outcome run = [](const auto&, const auto&) { return TrialOutcome::kOk; };
  // Seconds of one execution in the `nth` measurement of the candidate, counted from 0; > 0.
  std::function<double(const TuningTask&, const Candidate&, int nth)> seconds =
      [](const auto& task, const auto& candidate, int /*nth*/) { return HashedSeconds(task, candidate); };
  std::function<void()> before_measuring = [] {};
  double build_seconds = 0.25, check_seconds = 0, measure_seconds = 0.5;  // per candidate

  double now = 1000;
  std::vector<Asked> built, checked, measured;
  std::map<std::string, Code> code;         // by digest
  std::map<std::string, double> last_time;  // by digest
  std::map<std::string, int> times;         // number of measurements, by digest
  std::vector<std::vector<int>> grants;     // the processors granted to requests that needed the device

  // Pseudo-random times between 1 and 2 ms; no baseline is among the fastest.
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
      result.kernel.code_digest = machine_.CodeOf(*task, candidate);
      result.kernel.code.bytes = result.kernel.code_digest;
      result.kernel.code.phases = {{0, true}};
      if (result.outcome == TrialOutcome::kOk) continue;
      result.reason = absl::StrCat("building: ", Name(result.outcome));
      result.kernel = {};
    }
    return results;
  }

 private:
  FakeMachine& machine_;
};

// A network is a text made of its configs and layouts.
class FakeNetwork final : public NetworkCompiler {
 public:
  FakeNetwork(FakeMachine& machine, const std::vector<TuningTask>& tasks, const Target& target)
      : machine_(machine), tasks_(tasks), target_(target) {}

  struct Build {
    BestConfigs configs;
    LayoutOverrides overrides;
    std::map<std::string, std::string> code_digests;
  };

  absl::StatusOr<LayoutOverrides> LayoutOverridesBy(const KernelChooser& /*known*/) override {
    return LayoutOverrides();
  }
  absl::StatusOr<std::vector<TuningTask>> Tasks(const LayoutOverrides& overrides) override {
    std::vector<TuningTask> tasks = tasks_;
    for (const int flipped : overrides) {
      if (const auto other = overridden_tasks.find(flipped); other != overridden_tasks.end())
        tasks.push_back(other->second);
    }
    return tasks;
  }
  absl::StatusOr<int> NumLayoutClasses() override { return num_layout_classes; }

  absl::StatusOr<NetworkBuild> Compile(const BestConfigs& configs,
                                       const LayoutOverrides& overrides) override {
    Build build{.configs = configs, .overrides = overrides, .code_digests = {}};
    std::string text;
    const auto tasks = Tasks(overrides);
    for (const TuningTask& task : *tasks) {
      const auto found = configs.find(task.text);
      const Candidate candidate =
          found == configs.end() ? ConfigSpace::Create(task, target_)->Default() : found->second;
      const std::string group = IdentifyGroup(*task.region, task.constant_inputs, target_).name;
      build.code_digests[group] = machine_.CodeOf(task, candidate);
      absl::StrAppend(&text, build.code_digests[group], " ");
    }
    for (const int flipped : overrides) {
      absl::StrAppend(&text, "layout ", flipped, " ");
      build.code_digests[absl::StrCat("layout ", flipped)] = "";
    }
    auto blob = Blob::Of(text);
    builds[blob->digest()] = build;
    return NetworkBuild{*blob, *Blob::Of("inputs"), build.code_digests};
  }

  int num_layout_classes = 0;
  std::map<int, TuningTask> overridden_tasks;  // the additional task if a class has a layout override
  std::map<std::string, Build> builds;         // by artifact digest

 private:
  FakeMachine& machine_;
  const std::vector<TuningTask>& tasks_;
  const Target target_;
};

// A device that runs nothing. Results are computed when they are requested, one after the other.
class FakeService final : public MeasuringService {
 public:
  using MeasureNetwork = std::function<Measurement(const MeasureItem&)>;
  FakeService(FakeMachine& machine, MeasureNetwork measure_network)
      : machine_(machine), measure_network_(std::move(measure_network)) {}

  const DeviceInfo& device() const override { return device_; }
  bool Has(const std::string& digest) const override { return blobs_.contains(digest); }
  absl::Status Put(const Blob& blob) override {
    const auto file = blob.Open();
    const auto mapped = MappedFile::Map(file->get());
    blobs_[blob.digest()] = std::string(mapped->text());
    return absl::OkStatus();
  }
  std::unique_ptr<MeasureBatch> Submit(std::vector<MeasureItem> items) override {
    return std::make_unique<Batch>(*this, std::move(items));
  }

 private:
  class Batch final : public MeasureBatch {
   public:
    Batch(FakeService& service, std::vector<MeasureItem> items)
        : service_(service), items_(std::move(items)) {}

    std::optional<std::pair<size_t, Measurement>> Next(Deadline /*deadline*/) override {
      if (is_over()) return std::nullopt;
      Measurement m;
      m.reason = "cancelled";
      if (!is_cancelled_) m = service_.Measure(items_[next_]);
      return std::pair(next_++, std::move(m));
    }
    bool is_over() const override { return next_ == items_.size(); }
    void Cancel() override { is_cancelled_ = true; }
    double SecondsSinceHeartbeat() const override { return 0; }

   private:
    FakeService& service_;
    const std::vector<MeasureItem> items_;
    size_t next_ = 0;
    bool is_cancelled_ = false;
  };

  Measurement Measure(const MeasureItem& item) {
    if (item.is_exclusive()) machine_.grants.push_back(item.processors);
    switch (item.kind) {
      case MeasureItem::Kind::kCheckKernel:
        return MeasureKernel(item, machine_.check, "checking: ", machine_.check_seconds);
      case MeasureItem::Kind::kTimeKernel:
        machine_.before_measuring();
        return MeasureKernel(item, machine_.run, "running: ", machine_.measure_seconds);
      case MeasureItem::Kind::kMeasurePeaks: {
        Measurement m;
        m.outcome = TrialOutcome::kOk;
        m.peaks = {.gflops_per_core = 50, .l2_gb_per_s = 1e3, .l3_gb_per_s = 1e3, .memory_gb_per_s = 1e3};
        return m;
      }
      default:
        return measure_network_(item);
    }
  }

  std::string DigestOf(const std::string& kernel) const {
    return DecodeKernel(blobs_.at(kernel))->code_digest;
  }

  Measurement MeasureKernel(const MeasureItem& item, const FakeMachine::Outcome& outcome,
                            const std::string& what, double took) {
    const std::string digest = DigestOf(item.subject);
    const auto& [task, candidate] = machine_.code.at(digest);
    const bool times = item.kind == MeasureItem::Kind::kTimeKernel;
    const bool is_interleaved = times && !item.baseline.empty() && item.baseline != item.subject;
    (times ? machine_.measured : machine_.checked)
        .push_back({task.text, candidate, item.options, is_interleaved});
    machine_.now += took;
    Measurement m;
    m.seconds = took;
    m.outcome = outcome(task, candidate);
    if (m.outcome != TrialOutcome::kOk) {
      m.reason = absl::StrCat(what, Name(m.outcome));
      return m;
    }
    if (!times) return m;
    const double seconds = machine_.seconds(task, candidate, machine_.times[digest]++);
    machine_.last_time[digest] = seconds;
    m.timing = {seconds, 0.99 * seconds, 1.01 * seconds, 100};
    if (!is_interleaved) return m;
    const auto baseline = machine_.last_time.find(DigestOf(item.baseline));
    if (baseline == machine_.last_time.end()) return m;  // the baseline does not run
    m.baseline_seconds = baseline->second;
    m.ratio = seconds / m.baseline_seconds;
    m.ratio_low = 0.99 * m.ratio;
    m.ratio_high = 1.01 * m.ratio;
    m.is_significant = true;
    m.normalized_seconds = (item.baseline_seconds > 0 ? item.baseline_seconds : m.baseline_seconds) * m.ratio;
    return m;
  }

  FakeMachine& machine_;
  const DeviceInfo device_;
  MeasureNetwork measure_network_;
  std::map<std::string, std::string> blobs_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_FAKES_FOR_TEST_H_
