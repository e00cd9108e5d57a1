// One tuning job: the tasks of a network, tuned stage by stage.
#ifndef ATTUNE_TUNE_JOB_JOB_H_
#define ATTUNE_TUNE_JOB_JOB_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/memory.h"
#include "measure/measurer.h"
#include "nlohmann/json.hpp"
#include "tune/cost_model/cost_model.h"
#include "tune/job/events.h"
#include "tune/job/options.h"
#include "tune/job/recording.h"
#include "tune/job/report.h"
#include "tune/job/stage.h"
#include "tune/job/task_tuning.h"
#include "tune/records/database.h"
#include "tune/task/builder.h"

namespace attune {

// What is measured of the whole network takes about so long each time.
inline constexpr double kNetworkSeconds = 12;

// One inference of the whole network, in turns, in seconds.
struct NetworkTimes {
  double untuned = 0, tuned = 0;
  double ratio_low = 0, ratio_high = 0;  // of tuned to untuned: the confidence interval of its median
};

// Its kernels, likewise in turns: the seconds of all calls in one inference, one for each turn, by the digest
// of their code.
struct NetworkProfile {
  std::map<std::string, std::vector<double>> untuned, tuned;
};

// Other blocks for one class of a network's maps (plan/blocks.h), in turns with those so far.
struct LayoutTrial {
  double ratio_low = 0, ratio_high = 0;  // of the network's times: the confidence interval of its median
  bool is_adopted = false;               // since it is surely faster
  // Then, of both: a kernel that not both have, or not as often, and the seconds of one execution within the
  // network.
  struct Kernel {
    TuningTask task;
    Candidate candidate;
    std::string code_digest;
    double seconds = 0;
  };
  std::vector<Kernel> kernels;
};

// What a job works with; all outlive it.
struct TuningTools {
  Builder* builder = nullptr;
  Measurer* measurer = nullptr;
  RecordDatabase* records = nullptr;
  CostModel* model = nullptr;  // null: search strategies do without
  EventLog* events = nullptr;
  Recording* recording = nullptr;       // whose times are believed; null: this run's
  std::function<double()> now;          // seconds on a monotonic clock
  std::function<int64_t()> wall_clock;  // milliseconds since 1970
  // Measures the network as it is untuned, and with these configs by the tasks' texts; null: not measured.
  std::function<absl::StatusOr<NetworkTimes>(const std::map<std::string, Candidate>&)> measure_network;
  // The same of its kernels; null: what kernels are worth by themselves is what they are worth.
  std::function<absl::StatusOr<NetworkProfile>(const std::map<std::string, Candidate>&)> profile_network;
  // The network's classes of maps that have blocks to choose from, and how one is tried, with these configs;
  // where it is given, whether it is adopted is known before.
  int block_classes = 0;
  std::function<absl::StatusOr<LayoutTrial>(int, const std::map<std::string, Candidate>&,
                                            std::optional<bool>)>
      try_layout;
};

// Not thread safe, but for Stop().
class TuningJob {
 public:
  // `run` is in the database, new or to go on with. `bounds` are the roofline's seconds of one execution, by
  // task.
  static absl::StatusOr<std::unique_ptr<TuningJob>> Create(std::vector<TuningTask> tasks,
                                                           const std::vector<double>& bounds,
                                                           const Target& target, const TuningOptions& options,
                                                           TuningRun run, const TuningTools& tools);

  // The stage that comes next; nothing when the job is done.
  std::optional<JobStage> Next() const;
  // Runs it. After an error the job cannot go on; what was measured is in the database.
  absl::Status RunNext();
  // Makes kFinalize come after the stage that runs, or at once. Safe from a signal handler.
  void Stop() { stopping_.store(true, std::memory_order_relaxed); }
  bool is_stopped() const { return stopping_.load(std::memory_order_relaxed); }

  // The best config of each task that is faster than its default, by the task's text: complete when the job
  // is done, until then what finalizing has to confirm.
  std::map<std::string, Candidate> Best() const;
  TuningSummary Summary() const;

 private:
  struct Pending {
    size_t task = 0;
    Candidate candidate;
    std::optional<float> score;  // the model's, where it had one
    BuildResult built;
    double seconds = 0;  // as measured; 0: it failed
  };

  // A task of the records alone, and its best.
  struct OtherTask {
    TaskShape shape;
    Candidate best;
  };

  TuningJob(const TuningOptions& options, TuningRun run, const TuningTools& tools, Target target);

  absl::Status Prepare();
  absl::Status Select();
  absl::Status Build();
  absl::Status Measure();
  absl::Status Update();
  absl::Status Finalize();

  // What RunNext() does.
  std::optional<StageKind> NextKind() const;
  // Records of tasks that are none of this job's.
  absl::Status LearnFromOtherTasks();
  // What was fast for tasks like this one, the most alike first.
  std::vector<Candidate> FoundElsewhere(size_t task) const;
  bool IsOver() const;
  // How many of its kind's items the next stage of that kind has, and what one takes.
  int64_t ItemsOf(StageKind kind) const;
  double SecondsOfItem(StageKind kind) const;
  // Seconds that the job will go on for; 0 where no bound says.
  double SecondsLeft() const;
  // What finalizing will take.
  double FinalSeconds() const;
  // The candidates that every task starts with.
  void ChooseFirst();
  void Choose(size_t task, std::vector<Candidate> candidates);
  // Whether the time is over but for what ends with the network's own time.
  bool IsLate() const;
  absl::Status MeasureOne(Pending& pending);
  absl::StatusOr<Measurement> Measure(const Pending& pending, const MeasureOptions& options,
                                      const Incumbent* incumbent);
  // Measures candidates of a task again, in turns with its default.
  absl::Status Confirm(size_t task);
  // Confirms what is best within the network, where it has other neighbours in the caches.
  absl::Status CompareInNetwork();
  absl::Status TryLayout(int block_class);
  absl::Status MeasureNetwork();
  absl::StatusOr<NetworkTimes> TimeNetwork();
  absl::Status KeepRatio(size_t index, const TaskTuning::Code& code, double ratio, bool is_faster);
  absl::Status KeepDefault(size_t index, double ratio);
  // Of this run, with the next number, but for what came out.
  Record NewRecord(const TuningTask& task, const Candidate& candidate);
  // Writes down a measurement that is over; `search` is what proposed it.
  absl::Status Keep(const Pending& pending, TrialOutcome outcome, const Timing& timing,
                    const std::string& reason, double measure_seconds, std::string_view search);
  absl::Status KeepRecord(const Record& record);
  absl::Status TrainModel();
  // Of the next event, where the job replays a recording that has one.
  std::optional<nlohmann::json> Recorded(const std::string& event, const std::string& subject) {
    return tools_.recording == nullptr ? std::nullopt : tools_.recording->Next(event, subject);
  }
  absl::Status Log(std::string_view event, nlohmann::json fields) {
    return tools_.events->Write(event, fields);
  }
  MeasureOptions MeasuringOptions() const;
  double Elapsed() const { return earlier_seconds_ + tools_.now() - start_; }
  double NetworkSeconds() const;
  std::map<std::string, double> StageSeconds() const;

  TuningOptions options_;
  TuningRun run_;
  TuningTools tools_;
  Target target_;
  const int64_t memory_of_machine_ = MemoryOfMachine();
  double start_;
  double earlier_seconds_ = 0;  // that the run took before it was interrupted
  std::optional<StageKind> next_ = StageKind::kPrepare;
  std::atomic<bool> stopping_ = false;
  std::vector<std::unique_ptr<TaskTuning>> tasks_;
  std::vector<OtherTask> others_;
  std::vector<TaskSamples> other_samples_;
  bool has_begun_ = false;  // the first candidates of all tasks are chosen
  size_t finalized_ = 0;    // tasks
  int comparisons_ = 0;
  int tried_classes_ = 0;
  bool is_compared_ = false;  // the best of all tasks has been compared within the network
  bool measures_ = false;     // something was measured, or failed by its own fault
  std::string unmeasured_;    // why measuring itself did not work, the last time
  std::vector<Pending> pending_;
  int64_t trials_ = 0;       // what finalizing measures again is none
  int64_t next_number_ = 0;  // of whatever is measured
  std::array<double, 6> stage_seconds_ = {};
  std::array<int64_t, 6> stage_items_ = {};  // tasks or candidates, for predictions
  std::vector<CurvePoint> curve_;
  std::vector<RankPoint> ranks_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_JOB_H_
