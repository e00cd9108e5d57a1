#include "api/tuning.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "api/network_blobs.h"
#include "api/records.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/processors.h"
#include "base/status.h"
#include "device/host.h"
#include "measure/local_service.h"
#include "tune/job/local_driver.h"
#include "tune/job/stage.h"
#include "tune/records/record_chooser.h"
#include "tune/task/local_builder.h"
#include "tune/task/space.h"

namespace attune {
namespace {

// For a model that learns from many networks, once; models that are learned anew after each batch are
// smaller.
constexpr int kPretrainedRounds = 160, kPretrainedDepth = 5;

// Unique among all machines: the time, and random bits for runs that start in the same second.
std::string NewRunId() {
  std::random_device device;
  return absl::StrCat(absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone()), "-",
                      absl::StrFormat("%08x", device()));
}

// The options that make two runs the same work. The tasks' digests include the shapes and values of inputs
// that are given.
std::string OptionsJson(TuneSettings settings, const Network& network, const std::vector<TuningTask>& tasks) {
  std::set<std::string> digests;
  for (const TuningTask& task : tasks) digests.insert(task.digest);
  nlohmann::json json = {{"pass_plan", Sha256Hex(network.pass_plan())},
                         {"tasks", Sha256Hex(absl::StrJoin(digests, " "))}};
  for (const BoundOption& option : OptionsOf(settings))
    if (option.row->resumes) json[std::string(option.row->field)] = ValueOf(option);
  return json.dump();
}

// The model that the option cost_model names.
absl::StatusOr<std::shared_ptr<const TreeEnsemble>> BaseModel(const std::string& name) {
  if (name == "none") return nullptr;
  if (name.empty()) return PretrainedModel();
  constexpr int64_t kMaxBytes = int64_t{64} << 20;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(name, kMaxBytes));
  absl::StatusOr<std::shared_ptr<const TreeEnsemble>> trees = ParseCostModel(text);
  if (!trees.ok()) return Annotate(trees.status(), name);
  return trees;
}

// The network through the interface that a tuning job uses.
class CompilerOfNetwork final : public NetworkCompiler {
 public:
  CompilerOfNetwork(Network network, Target target)
      : network_(std::move(network)), target_(std::move(target)) {}

  absl::StatusOr<LayoutOverrides> LayoutOverridesBy(const KernelChooser& known) override {
    return network_.LayoutOverridesBy(known, target_);
  }
  absl::StatusOr<std::vector<TuningTask>> Tasks(const LayoutOverrides& overrides) override {
    return network_.Tasks(target_, overrides);
  }
  absl::StatusOr<int> NumLayoutClasses() override { return network_.NumBlockClasses(target_); }

  absl::StatusOr<NetworkBuild> Compile(const BestConfigs& configs,
                                       const LayoutOverrides& overrides) override {
    const Network compiled = CompileWith(RecordChooser(configs), overrides, /*compress_constants=*/false);
    RETURN_IF_ERROR(compiled.status());
    ASSIGN_OR_RETURN(const NetworkDescription description, compiled.Describe());
    ASSIGN_OR_RETURN(NetworkBlobs blobs, BlobsOf(compiled));
    NetworkBuild build{
        .artifact = std::move(blobs.artifact), .inputs = std::move(blobs.inputs), .code_digests = {}};
    for (const KernelInfo& kernel : description.variant().kernels)
      build.code_digests[kernel.name.substr(0, kernel.name.find('.'))] = kernel.digest;
    return build;
  }

  Network CompileWith(const RecordChooser& chooser, const LayoutOverrides& overrides,
                      bool compress_constants) const {
    CompileOptions options;
    options.compress_constants = compress_constants;
    options.target = target_;
    options.chooser = &chooser;
    options.layout_overrides = overrides;
    return network_.Compile(std::move(options));
  }

 private:
  const Network network_;
  const Target target_;
};

}  // namespace

absl::StatusOr<std::string> LearnCostModel(const std::string& path, TransferOptions options,
                                           const std::vector<Network>& without) {
  ASSIGN_OR_RETURN(const Target target, HostTarget());
  for (const Network& network : without) {
    ASSIGN_OR_RETURN(const std::vector<TuningTask> tasks, network.Tasks(target));
    for (const TuningTask& task : tasks) options.without.insert(task.text);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> records, OpenRecords(path, DatabaseAccess::kRead));
  ASSIGN_OR_RETURN(const std::vector<TaskSamples> samples, TransferSamplesOf(*records, target, options));
  const std::unique_ptr<CostModel> model =
      MakeBoostedTrees({.rounds = kPretrainedRounds, .depth = kPretrainedDepth});
  RETURN_IF_ERROR(Annotate(model->Update(samples), records->path()));
  return model->Serialize();
}

absl::StatusOr<std::string> DescribeSpaces(const Network& network, const TuneOptions& options) {
  ASSIGN_OR_RETURN(const Target target,
                   options.service != nullptr ? options.service->device().target : HostTarget());
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

// The objects that the tuner owns besides the job.
struct NetworkTuner::Tools {
  Tools(Network network, std::shared_ptr<MeasuringService> measuring, DeviceLeases leases_of_host,
        bool device_is_here, int processes)
      : service(std::move(measuring)),
        compiler(std::move(network), service->device().target),
        leases(std::move(leases_of_host)),
        is_here(device_is_here),
        builder({.target = service->device().target, .processes = processes}) {}

  std::shared_ptr<MeasuringService> service;
  CompilerOfNetwork compiler;
  DeviceLeases leases;  // of this machine
  bool is_here;         // whether the device is this machine
  bool compress_constants = false;
  LocalBuilder builder;
  std::unique_ptr<RecordDatabase> records;
  std::unique_ptr<EventLog> events;
  std::unique_ptr<Recording> recording;
  std::unique_ptr<CostModel> model;
};

NetworkTuner::NetworkTuner(std::unique_ptr<Tools> tools, ActiveRun run)
    : tools_(std::move(tools)), run_(std::move(run)) {}

NetworkTuner::~NetworkTuner() = default;

absl::StatusOr<std::unique_ptr<NetworkTuner>> NetworkTuner::Create(const Network& network,
                                                                   const TuneOptions& options) {
  RETURN_IF_ERROR(network.status());
  ASSIGN_OR_RETURN(const DeviceInfo host, HostDevice());
  const int processes = options.tuning.builders > 0 ? options.tuning.builders : Processors();
  std::shared_ptr<MeasuringService> service = options.service;
  if (service == nullptr)
    service = std::make_shared<LocalMeasuringService>(host, LocalServiceOptions{.checkers = processes});
  const DeviceInfo& device = service->device();
  ASSIGN_OR_RETURN(const std::vector<TuningTask> tasks, network.Tasks(device.target));
  if (tasks.empty()) return InvalidInput(network.source(), ": computes nothing that could be tuned");
  ASSIGN_OR_RETURN(DeviceLeases leases, DeviceLeases::Open(host));
  auto tools =
      std::make_unique<Tools>(network, service, std::move(leases), options.service == nullptr, processes);
  tools->compress_constants = options.compress_constants;
  if (!options.tuning.replay.empty()) {
    ASSIGN_OR_RETURN(tools->recording, Recording::Load(options.tuning.replay));
  }
  if (options.tuning.use_model) {
    ASSIGN_OR_RETURN(std::shared_ptr<const TreeEnsemble> base, BaseModel(options.tuning.cost_model));
    tools->model = MakeBoostedTrees({.base = std::move(base)});
  }
  ASSIGN_OR_RETURN(tools->records, OpenRecords(options.tuning.records, DatabaseAccess::kCreate));
  const TuningRun wanted = {
      .id = NewRunId(),
      .model = std::filesystem::path(network.source()).filename().string(),
      .model_digest = network.digest(),
      .device = options.tuning.device.empty() ? device.fingerprint : options.tuning.device,
      .threads = options.tuning.threads,
      .options = OptionsJson(options.tuning, network, tasks),
      .start_ms = SystemClock().WallMillis()};
  ASSIGN_OR_RETURN(ActiveRun run, ActiveRun::ResumeOrBegin(*tools->records, wanted));
  ASSIGN_OR_RETURN(tools->events, EventLog::Open(options.tuning.events, run.run().id, SystemClock()));
  std::unique_ptr<NetworkTuner> tuner(new NetworkTuner(std::move(tools), std::move(run)));
  Tools& own = *tuner->tools_;
  ASSIGN_OR_RETURN(tuner->job_, TuningJob::Create(device.target, options.tuning, tuner->run_.run(),
                                                  {.builder = &own.builder,
                                                   .service = own.service.get(),
                                                   .records = own.records.get(),
                                                   .model = own.model.get(),
                                                   .events = own.events.get(),
                                                   .recording = own.recording.get(),
                                                   .network = &own.compiler}));
  return tuner;
}

EventLog& NetworkTuner::events() { return *tools_->events; }

const std::string& NetworkTuner::records_path() const { return tools_->records->path(); }

absl::Status NetworkTuner::CheckpointRecords() { return tools_->records->Checkpoint(); }

const Recording* NetworkTuner::recording() const { return tools_->recording.get(); }

absl::Status NetworkTuner::RunStage() {
  const std::optional<JobStage> stage = job_->Next();
  // A stage that waits for a device elsewhere holds nothing here meanwhile: if the device's agent is on this
  // machine, it may need the processors for that very stage.
  if (!tools_->is_here && stage.has_value() && WaitsForDevice(stage->name)) return job_->Run({});
  return RunNextStage(*job_, tools_->leases, Isolation::kDevice, [this] { return job_->is_stopped(); });
}

absl::Status NetworkTuner::RunStages(const std::function<void(const std::string& stage)>& on_event,
                                     const std::function<void(const std::string& stage)>& on_end) {
  while (const std::optional<JobStage> stage = job_->Next()) {
    events().Listen([&](std::string_view, const auto&) { on_event(stage->name); });
    const absl::Status ran = RunStage();
    events().Listen(nullptr);
    RETURN_IF_ERROR(ran);
    if (on_end) on_end(stage->name);
  }
  return absl::OkStatus();
}

absl::StatusOr<Network> NetworkTuner::Compile() const {
  RecordChooser chooser(job_->Best());
  RETURN_IF_ERROR(chooser.NameRecords(*tools_->records, run_.run().id));
  return tools_->compiler.CompileWith(chooser, job_->overrides(), tools_->compress_constants);
}

}  // namespace attune
