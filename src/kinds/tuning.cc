// A tuning run as a job among others.
//
// The stages are those of the tuning run (tune/job/tuning_job.h). One more at the end compiles the tuned
// network and writes the requested files; on a device elsewhere, a last one runs that network often, so that
// its latency can be promised (network_judge.h). Measurements are in the records as soon as they are made, so
// that a job whose process died resumes with all of them.
#include "api/tuning.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "api/givens.h"
#include "api/network.h"
#include "api/opened_model.h"
#include "api/pipeline.h"
#include "api/records.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/job.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/status.h"
#include "kinds/kind_functions.h"
#include "kinds/network_judge.h"
#include "kinds/option_settings.h"
#include "kinds/part_records.h"
#include "tune/job/report.h"
#include "tune/job/stage.h"
#include "work/job/settings.h"
#include "work/job/stage_prior.h"

namespace attune {
namespace {

struct TuningSettings : TuningJobSettings {
  TuneOptions tune;
  CompileSettings compile;
  PictureSettings pictures;  // which the tuned artifact carries

  bool writes() const { return !output.empty() || !report.empty() || !json.empty(); }
};

absl::StatusOr<TuningSettings> ReadSettings(const JobSpec& spec) {
  TuningSettings settings;
  TuningOptions& tuning = settings.tune.tuning;
  SettingsReader reader(spec.settings, spec.base);
  ReadOptions(reader, OptionsOf(settings));
  ReadOptions(reader, OptionsOf(tuning));
  ReadOptions(reader, OptionsOf(settings.compile));
  ReadOptions(reader, OptionsOf(settings.pictures));
  CheckShapes(reader, settings.shapes);
  if (!tuning.replay.empty() && tuning.records.empty())
    reader.Fail("replay",
                "the records of this job will hold times of another run; name a database of its own");
  RETURN_IF_ERROR(reader.Finish());
  return settings;
}

class NetworkTuningJob final : public Job {
 public:
  // `elsewhere`: the device, if it is elsewhere; otherwise null.
  NetworkTuningJob(std::string id, TuningSettings settings, std::unique_ptr<NetworkTuner> tuner,
                   std::shared_ptr<MeasuringService> elsewhere)
      : id_(std::move(id)),
        elsewhere_(std::move(elsewhere)),
        settings_(std::move(settings)),
        tuner_(std::move(tuner)) {
    if (settings_.writes()) ending_.push_back(kWrite);
    if (elsewhere_ != nullptr && settings_.judge_seconds > 0) {
      if (ending_.empty()) ending_.push_back(kWrite);
      ending_.push_back(kJudge);
    }
    // A job that is killed while it writes resumes its run, and does not start another.
    if (!ending_.empty()) tuner_->job().LeaveRunOpen();
  }

  const std::string& id() const override { return id_; }

  std::optional<JobStage> Next() const override {
    std::optional<JobStage> stage = tuner_->job().Next();
    // A stage that waits for a device elsewhere holds no processor meanwhile.
    if (elsewhere_ != nullptr && stage.has_value() && WaitsForDevice(stage->name))
      std::erase_if(stage->needs, [](const ResourceNeed& need) { return need.key == kProcessorsKey; });
    const std::lock_guard<std::mutex> lock(mutex_);
    if (stage.has_value()) return stage;
    const size_t next = ended_ + (runs_ ? 1 : 0);
    if (next < ending_.size()) return EndingStage(ending_[next]);
    return std::nullopt;
  }

  absl::Status Run(const JobGrant& grant) override {
    RETURN_IF_ERROR(RunNext(grant));
    KeepRecordsTogether();
    return absl::OkStatus();
  }

  // The files of a job on a server are sent after each stage, and its records are one of them. Records that
  // cannot be added to it now are sent as a file beside it.
  void KeepRecordsTogether() {
    if (elsewhere_ == nullptr) return;
    const absl::Status together = tuner_->CheckpointRecords();
    if (!together.ok())
      Log(LogLevel::kWarning, "records stay beside their file", "reason", together.message());
  }

  void Cancel() override { tuner_->job().Cancel(); }

  double SpentSeconds() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return tuner_->job().SpentSeconds() + ending_seconds_;
  }
  double RemainingSeconds() const override {
    double seconds = tuner_->job().RemainingSeconds();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = ended_; i < ending_.size(); ++i)
      seconds += StagePrior("tuning", EndingStage(ending_[i]).name).median;
    return seconds;
  }
  std::string Progress() const override { return tuner_->job().Progress(); }
  std::string Figures() const override { return FiguresOf(tuner_->job().Summary()).dump(); }
  std::string Result() const override {
    const TuningSummary summary = tuner_->job().Summary();
    nlohmann::ordered_json result = ToJson(summary);
    result["device_seconds"] = FiguresOf(summary)["device_seconds"].get<double>() + judging_seconds_;
    if (!built_.is_null()) result["artifact"] = built_;
    if (!judged_.is_null()) result["judged"] = judged_;
    return result.dump();
  }

 private:
  enum class Ending : uint8_t { kWrite, kJudge };
  using enum Ending;

  absl::Status RunNext(const JobGrant& grant) {
    if (const std::optional<JobStage> stage = tuner_->job().Next(); stage.has_value()) {
      // The device's processors are its own business.
      const bool waits = elsewhere_ != nullptr && WaitsForDevice(stage->name);
      return tuner_->job().Run(waits ? JobGrant() : grant);
    }
    const Stopwatch watch;
    SetRuns(true);
    absl::Status status = ending_[ended_] == kWrite ? Write() : Judge();
    if (status.ok() && ended_ + 1 == ending_.size()) status = tuner_->job().FinishRun();
    SetRuns(false);
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_seconds_ += watch.Seconds();
    ended_ += status.ok() ? 1 : 0;
    return status;
  }
  JobStage EndingStage(Ending ending) const {
    constexpr int64_t kWriteBytes = int64_t{1} << 31;
    if (ending == kWrite) {
      JobStage write{.name = "write", .needs = {}, .memory_bytes = kWriteBytes, .seconds = {}};
      write.needs.push_back({.key = kProcessorsKey, .amount = std::max(settings_.tune.tuning.builders, 1)});
      return write;
    }
    JobStage judge{.name = "judge", .needs = {}, .memory_bytes = kWriteBytes, .seconds = {}};
    judge.needs.push_back({.key = DeviceKey(tuner_->run().run().device),
                           .amount = settings_.tune.tuning.threads,
                           .exclusive = true});
    return judge;
  }
  absl::Status Write() {
    ASSIGN_OR_RETURN(tuned_, tuner_->Compile());
    if (!settings_.output.empty()) {
      RETURN_IF_ERROR(tuned_->Save(settings_.output).status());
      ASSIGN_OR_RETURN(built_, IdentityOf(*tuned_));
    }
    if (!settings_.report.empty())
      RETURN_IF_ERROR(WriteFileAtomically(settings_.report, ReportHtml(tuner_->job().Summary())));
    if (!settings_.json.empty()) RETURN_IF_ERROR(WriteFileAtomically(settings_.json, Result() + "\n"));
    return absl::OkStatus();
  }
  absl::Status Judge() {
    if (tuner_->job().is_stopped()) return absl::OkStatus();
    const TuningSummary summary = tuner_->job().Summary();
    const Stopwatch watch;
    const auto pause = [this](double seconds) {
      constexpr std::chrono::milliseconds kLook(50);
      for (const Stopwatch waits; waits.Seconds() < seconds; std::this_thread::sleep_for(kLook))
        if (tuner_->job().is_stopped()) return false;
      return !tuner_->job().is_stopped();
    };
    ASSIGN_OR_RETURN(judged_, JudgeNetwork(*tuned_, summary, settings_.judge_seconds, *elsewhere_, pause));
    judging_seconds_ = watch.Seconds();
    return absl::OkStatus();
  }
  void SetRuns(bool runs) {
    const std::lock_guard<std::mutex> lock(mutex_);
    runs_ = runs;
  }

  const std::string id_;
  const std::shared_ptr<MeasuringService> elsewhere_;
  const TuningSettings settings_;
  const std::unique_ptr<NetworkTuner> tuner_;
  std::vector<Ending> ending_;  // the stages after those of the run
  std::optional<Network> tuned_;
  nlohmann::ordered_json built_, judged_;
  double judging_seconds_ = 0;

  mutable std::mutex mutex_;  // for the following
  size_t ended_ = 0;          // how many of `ending_` have
  bool runs_ = false;         // whether one of them does
  double ending_seconds_ = 0;
};

// Adds the initial records to the job's own. Each is checked, and none is trusted, whatever its origin: its
// kernel is built, compared with the reference and measured like any other.
absl::Status TakeStartRecords(const TuningSettings& settings) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> records,
                   OpenRecords(settings.tune.tuning.records, DatabaseAccess::kCreate));
  const DatabaseSource to = [&]() -> absl::StatusOr<RecordDatabase*> { return records.get(); };
  return ImportRecordFile(to, settings.start_records).status();
}

// A part searches, and leaves its records; the whole job begins with those.
absl::Status TakePart(const JobSpec& spec, const JobPlace& place, TuningSettings& settings) {
  settings.tune.tuning.part = {.count = spec.parts, .index = spec.part};
  if (spec.part == 0) return TakeRecordsOfParts(place.folder, spec.parts, settings.tune.tuning.records);
  settings.output = settings.report = settings.json = settings.tune.tuning.events = "";
  settings.judge_seconds = 0;
  settings.tune.tuning.records = (std::filesystem::path(place.folder) / kPartRecords).string();
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckTuningJob(const JobSpec& spec) { return ReadSettings(spec).status(); }

absl::StatusOr<std::unique_ptr<Job>> OpenTuningJob(const JobSpec& spec, const JobPlace& place) {
  ASSIGN_OR_RETURN(TuningSettings settings, ReadSettings(spec));
  for (const std::string& file : {settings.output, settings.report, settings.json})
    if (!file.empty()) RETURN_IF_ERROR(OutputFile::Check(file));
  settings.tune.service = place.service;
  // A device elsewhere has nothing to do with this machine's records.
  if (place.service != nullptr && settings.tune.tuning.records.empty())
    settings.tune.tuning.records = (std::filesystem::path(place.folder) / "records.db").string();
  if (spec.parts > 1) RETURN_IF_ERROR(TakePart(spec, place, settings));
  // The whole job has them from its parts.
  const bool is_whole = spec.parts > 1 && spec.part == 0;
  if (!settings.start_records.empty() && !is_whole) RETURN_IF_ERROR(TakeStartRecords(settings));
  TuningOptions& tuning = settings.tune.tuning;
  tuning.builders = std::min(tuning.builders > 0 ? tuning.builders : place.processors, place.processors);
  ASSIGN_OR_RETURN(OpenedModel model, OpenedModel::Open(settings.model, {settings.signature, {}}));
  ASSIGN_OR_RETURN(const Givens givens,
                   ReadGivens(model, settings.shapes, {.inputs = {}, .pictures = settings.pictures},
                              /*samples=*/nullptr, WorkControl()));
  CompileRequest request;
  static_cast<CompileSettings&>(request) = settings.compile;
  request.service = place.service;
  request.jobs = place.processors;
  ASSIGN_OR_RETURN(const Network network, OptimizeFor(Network::Load(model, givens.options), request));
  ASSIGN_OR_RETURN(std::unique_ptr<NetworkTuner> tuner, NetworkTuner::Create(network, settings.tune));
  auto job =
      std::make_unique<NetworkTuningJob>(place.id, std::move(settings), std::move(tuner), place.service);
  job->KeepRecordsTogether();
  return job;
}

}  // namespace attune
