#include "api/tuning.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/layout_trial.h"
#include "api/network_turns.h"
#include "api/records.h"
#include "base/file.h"
#include "base/processors.h"
#include "base/status.h"
#include "device/host.h"
#include "device/peaks.h"
#include "device/roofline.h"
#include "tune/records/record_chooser.h"
#include "tune/task/space.h"

namespace attune {
namespace {

// Of a model that learns from many networks, once; one that is made anew after each batch is smaller.
constexpr int kPretrainedRounds = 160, kPretrainedDepth = 5;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
int64_t WallClock() { return absl::ToUnixMillis(absl::Now()); }

// Unique among all machines: the time, and what two that start in the same second do not share.
std::string NewRunId() {
  std::random_device device;
  return absl::StrCat(absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone()), "-",
                      absl::StrFormat("%08x", device()));
}

// What makes two runs the same work. The tasks tell shapes and values of inputs, where these are given.
std::string OptionsJson(const TuneOptions& o, const Network& network, const std::vector<TuningTask>& tasks) {
  const TuningOptions& t = o.tuning;
  std::set<std::string> digests;
  for (const TuningTask& task : tasks) digests.insert(task.digest);
  return nlohmann::json({{"search", t.search},
                         {"cache", Name(t.cache)},
                         {"seed", t.seed},
                         {"trials", t.trials},
                         {"trials_per_task", t.trials_per_task},
                         {"seconds", t.seconds},
                         {"patience", t.patience},
                         {"batch", t.batch},
                         {"measure_seconds", t.measure_seconds},
                         {"random_share", t.random_share},
                         {"transfer_from_runs", t.transfer_from_runs},
                         {"transfer_from_tasks", t.transfer_from_tasks},
                         {"use_defaults", t.use_defaults},
                         {"retry_layouts", t.retry_layouts},
                         {"use_model", o.use_model},
                         {"cost_model", o.cost_model},
                         {"replay", o.replay},
                         {"pass_plan", Sha256Hex(network.pass_plan())},
                         {"tasks", Sha256Hex(absl::StrJoin(digests, " "))}})
      .dump();
}

// Of a network's weights.
int64_t ConstantBytes(const std::vector<TuningTask>& tasks) {
  int64_t bytes = 0;
  for (const TuningTask& task : tasks) {
    for (const int input : task.constant_inputs) {
      bytes += task.uses * task.region->inputs()[static_cast<size_t>(input)]->type().num_physical_bytes();
    }
  }
  return bytes;
}

// What TuneOptions::cost_model names.
absl::StatusOr<std::shared_ptr<const TreeEnsemble>> BaseModel(const std::string& name) {
  if (name == "none") return nullptr;
  if (name.empty()) return PretrainedModel();
  constexpr int64_t kMaxBytes = int64_t{64} << 20;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(name, kMaxBytes));
  absl::StatusOr<std::shared_ptr<const TreeEnsemble>> trees = ParseCostModel(text);
  if (!trees.ok()) return Annotate(trees.status(), name);
  return trees;
}

// The type of the numbers that a task's kernels multiply.
Multiplicand MultiplicandOf(const Workload& workload) {
  const Node* const anchor = workload.anchor;
  if (anchor == nullptr || anchor->num_inputs() < 2) return Multiplicand::kF32;
  if (IsIntegerProduct(anchor->op())) return Multiplicand::kInt8;
  const bool is_bf16 =
      anchor->input(0)->type().dtype == DType::kBF16 && anchor->input(1)->type().dtype == DType::kBF16;
  return is_bf16 ? Multiplicand::kBF16 : Multiplicand::kF32;
}

// What no kernel of the task goes below, by whatever strategy.
absl::StatusOr<double> LowerBound(const TuningTask& task, const Target& target, int threads) {
  ASSIGN_OR_RETURN(const Workload workload, task.Analyze());
  double flops = task.flops;
  for (const Strategy& strategy : AllStrategies()) {
    if (strategy.why_not(workload, target).empty()) flops = std::min(flops, strategy.least_work * task.flops);
  }
  constexpr double kAtOnce = 0;  // data in memory would be a weaker bound
  return RooflineOf({flops, MultiplicandOf(workload), task.bytes, 1}, kAtOnce, MeasurePeaks(threads), threads)
      .seconds;
}

}  // namespace

absl::StatusOr<std::string> LearnCostModel(const std::string& path, LessonOptions options,
                                           const std::vector<Network>& without) {
  ASSIGN_OR_RETURN(const Target target, HostTarget());
  for (const Network& network : without) {
    ASSIGN_OR_RETURN(const std::vector<TuningTask> tasks, network.Tasks(target));
    for (const TuningTask& task : tasks) options.without.insert(task.text);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> records, OpenRecords(path, DatabaseAccess::kRead));
  ASSIGN_OR_RETURN(const std::vector<TaskSamples> lessons, LessonsOf(*records, target, options));
  const std::unique_ptr<CostModel> model =
      MakeBoostedTrees({.rounds = kPretrainedRounds, .depth = kPretrainedDepth});
  RETURN_IF_ERROR(Annotate(model->Update(lessons), records->path()));
  return model->Serialize();
}

absl::StatusOr<std::string> DescribeSpaces(const Network& network) {
  ASSIGN_OR_RETURN(const Target target, HostTarget());
  ASSIGN_OR_RETURN(const std::vector<TuningTask> tasks, network.Tasks(target));
  std::string text;
  for (const TuningTask& task : tasks) {
    constexpr size_t kDescriptionBytes = 120;
    ASSIGN_OR_RETURN(const ConfigSpace space, ConfigSpace::Create(task, target));
    absl::StrAppend(&text, task.digest.substr(0, 12), "  ", DescribeTask(task.text, kDescriptionBytes),
                    ", used ", task.uses, "×, ", space.size(), " configs\n", space.ToString(), "\n\n");
  }
  return text;
}

NetworkTuner::NetworkTuner(Network network, Target target, std::unique_ptr<RecordDatabase> records,
                           std::unique_ptr<EventLog> events, ActiveRun run)
    : network_(std::move(network)),
      target_(std::move(target)),
      records_(std::move(records)),
      events_(std::move(events)),
      run_(std::move(run)) {}

absl::StatusOr<std::unique_ptr<NetworkTuner>> NetworkTuner::Create(const Network& network,
                                                                   const TuneOptions& options) {
  RETURN_IF_ERROR(network.status());
  ASSIGN_OR_RETURN(Target target, HostTarget());
  ASSIGN_OR_RETURN(std::vector<TuningTask> tasks, network.Tasks(target));
  if (tasks.empty()) return InvalidInput(network.source(), ": computes nothing that could be tuned");
  std::unique_ptr<Recording> recording;
  if (!options.replay.empty()) {
    ASSIGN_OR_RETURN(recording, Recording::Load(options.replay));
  }
  ASSIGN_OR_RETURN(std::unique_ptr<RecordDatabase> records,
                   OpenRecords(options.records, DatabaseAccess::kCreate));
  const std::string device = options.device.empty() ? DeviceFingerprint() : options.device;
  const std::string work = OptionsJson(options, network, tasks);  // before records change the layouts
  BlockFlips flips;
  if (options.tuning.transfer_from_runs) {
    ASSIGN_OR_RETURN(const RecordChooser known,
                     RecordChooser::Load(*records, device, options.tuning.threads));
    ASSIGN_OR_RETURN(flips, network.FlipsBy(known, target));
    ASSIGN_OR_RETURN(tasks, network.Tasks(target, flips));
  }
  const TuningRun wanted = {.id = NewRunId(),
                            .model = std::filesystem::path(network.source()).filename().string(),
                            .model_digest = network.digest(),
                            .device = device,
                            .threads = options.tuning.threads,
                            .options = work,
                            .start_ms = WallClock()};
  ASSIGN_OR_RETURN(ActiveRun run, ActiveRun::ResumeOrBegin(*records, wanted));
  ASSIGN_OR_RETURN(std::unique_ptr<EventLog> events, EventLog::Open(options.events, run.run().id, Now));
  std::unique_ptr<NetworkTuner> tuner(
      new NetworkTuner(network, target, std::move(records), std::move(events), std::move(run)));
  tuner->flips_ = std::move(flips);
  tuner->recording_ = std::move(recording);
  // With other caches than those of a network, times say nothing about one.
  if (options.tuning.retry_layouts && options.tuning.cache == CacheMode::kNetwork) {
    ASSIGN_OR_RETURN(tuner->block_classes_, network.NumBlockClasses(target));
  }

  const auto use = std::make_shared<MachineUse>();
  const int builders = options.tuning.builders > 0 ? options.tuning.builders : Processors();
  LocalBuilderOptions building;
  building.target = target;
  building.processes = builders;
  building.use = use;
  LocalMeasurerOptions measuring;
  measuring.use = use;
  tuner->builder_ = std::make_unique<LocalBuilder>(std::move(building));
  tuner->measurer_ = std::make_unique<LocalMeasurer>(std::move(measuring));
  if (options.use_model) {
    ASSIGN_OR_RETURN(std::shared_ptr<const TreeEnsemble> base, BaseModel(options.cost_model));
    tuner->model_ = MakeBoostedTrees({.base = std::move(base)});
  }
  const int threads = options.tuning.threads;
  std::vector<double> bounds;
  for (const TuningTask& task : tasks) {
    ASSIGN_OR_RETURN(bounds.emplace_back(), LowerBound(task, target, threads));
  }
  TuningTools tools;
  tools.builder = tuner->builder_.get();
  tools.measurer = tuner->measurer_.get();
  tools.records = tuner->records_.get();
  tools.model = tuner->model_.get();
  tools.events = tuner->events_.get();
  tools.recording = tuner->recording_.get();
  tools.now = Now;
  tools.wall_clock = WallClock;
  tuner->Provide(tools, threads);
  TuningOptions tuning = options.tuning;
  if (tuning.cold_bytes == 0 && tuning.cache == CacheMode::kNetwork) tuning.cold_bytes = ConstantBytes(tasks);
  ASSIGN_OR_RETURN(tuner->job_,
                   TuningJob::Create(std::move(tasks), bounds, target, tuning, tuner->run_.run(), tools));
  return tuner;
}

void NetworkTuner::Provide(TuningTools& tools, int threads) {
  tools.block_classes = block_classes_;
  tools.profile_network = [this, threads](const auto& best) {
    return ProfileNetworks(CompileWith({}, flips_), CompileWith(best, flips_), threads);
  };
  tools.try_layout = [this, threads](int block_class, const auto& best, std::optional<bool> is_adopted) {
    return TryLayout(block_class, best, threads, is_adopted);
  };
  tools.measure_network = [this, threads](const auto& best) {
    return TimeNetworks(CompileWith({}, {}), CompileWith(best, flips_), threads, kNetworkSeconds);
  };
}

Network NetworkTuner::CompileWith(const std::map<std::string, Candidate>& configs,
                                  const BlockFlips& flips) const {
  const RecordChooser chooser(configs);
  CompileOptions options;
  options.target = target_;
  options.chooser = &chooser;
  options.flips = flips;
  return network_.Compile(std::move(options));
}

Network NetworkTuner::Compile() const { return CompileWith(job_->Best(), flips_); }

absl::StatusOr<LayoutTrial> NetworkTuner::TryLayout(int block_class,
                                                    const std::map<std::string, Candidate>& best, int threads,
                                                    std::optional<bool> is_adopted) {
  BlockFlips flipped = flips_;
  if (!flipped.insert(block_class).second) flipped.erase(block_class);
  ASSIGN_OR_RETURN(LayoutTrial trial,
                   TryFlips(network_, flips_, flipped, best, target_, threads, is_adopted));
  if (trial.is_adopted) flips_ = std::move(flipped);
  return trial;
}

}  // namespace attune
