// Compares ways to quantize one model: how fast each is, and how well it agrees with f32.
//
// Problem: quantizing and compiling need many processors for minutes, and timing needs a device for itself
// for seconds. Idea: each variant goes through stages with needs of their own, so that other jobs use what is
// idle. A variant's row is written when its last stage ends; a job that is opened again continues with the
// variants that have none, so that at most one is repeated.
#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/quantile.h"
#include "base/status.h"
#include "device/pin.h"
#include "kinds/kind_functions.h"
#include "kinds/option_settings.h"
#include "kinds/quantization_settings.h"
#include "kinds/quantization_table.h"
#include "kinds/quantization_work.h"

namespace attune {
namespace {

using Json = QuantizationTable::Json;

enum class Step : uint8_t { kPrepare, kCalibrate, kBuild, kMeasure, kJudge };
constexpr std::array<const char*, 5> kStepNames = {"prepare", "calibrate", "build", "measure", "judge"};
const char* Name(Step step) { return kStepNames[static_cast<size_t>(step)]; }

class QuantizationSweep final : public Job {
 public:
  QuantizationSweep(SweepSettings settings, const JobPlace& place, DeviceInfo device, QuantizationTable table)
      : place_(place),
        settings_(std::move(settings)),
        max_drop_(settings_.samples.max_drop),
        device_(device.fingerprint),
        work_(settings_, settings_.output, std::move(device), place.service, cancellation_),
        table_(std::move(table)) {
    for (const QuantizationVariant& variant : settings_.variants) {
      if (!table_.Has(variant.name)) pending_.push_back(variant);
    }
    for (const Json& row : table_.rows()) {
      for (const auto& [stage, seconds] : row.at("seconds").items()) NoteSeconds(stage, seconds);
    }
    NoteBytes();
  }

  const std::string& id() const override { return place_.id; }
  std::optional<JobStage> Next() const override;
  absl::Status Run(const JobGrant& grant) override;
  void Cancel() override { cancellation_.Cancel(); }
  double SpentSeconds() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return spent_ + (running_.has_value() ? running_->Seconds() : 0);
  }
  double RemainingSeconds() const override;
  std::string Progress() const override;
  std::string Result() const override;
  const Json* Best() const { return table_.Best(max_drop_, static_cast<int>(settings_.variants.size())); }
  // Writes what was asked for besides the models.
  absl::Status WriteResult() const {
    return settings_.json.empty() ? absl::OkStatus() : WriteFileAtomically(settings_.json, Result() + "\n");
  }

 private:
  struct At {
    Step step = Step::kPrepare;
    size_t variant = 0;  // in pending_
  };
  static At After(At at) {
    if (at.step == Step::kJudge) return {Step::kCalibrate, at.variant + 1};
    return {static_cast<Step>(static_cast<int>(at.step) + 1), at.variant};
  }
  bool IsDone(At at) const { return at.variant >= pending_.size(); }
  // The next three need mutex_.
  JobStage StageOf(Step step) const;
  void NoteSeconds(const std::string& stage, double seconds) {
    seconds_[stage].push_back(seconds);
    spent_ += seconds;
  }
  void NoteBytes() {
    model_bytes_ = work_.model_bytes();
    sample_bytes_ = work_.sample_bytes();
  }

  // Runs the work of a stage; a stage that ends a variant returns its row.
  absl::StatusOr<Json> RunStep(const JobGrant& grant);
  // Adds the row of the current variant, with these results.
  absl::Status AddRow(const Json& results);

  const JobPlace place_;
  const SweepSettings settings_;
  const double max_drop_;
  const std::string device_;  // its fingerprint
  Cancellation cancellation_;
  QuantizationWork work_;
  QuantizationTable table_;
  std::vector<QuantizationVariant> pending_;  // without a row when the job was opened; not changed later
  Json seconds_of_variant_ = Json::object();  // of the current variant's stages, by their names

  mutable std::mutex mutex_;  // for the following
  At at_;                     // the next stage, or the running one
  std::optional<Stopwatch> running_;
  std::map<std::string, std::vector<double>, std::less<>> seconds_;  // of the stages so far, by their names
  double spent_ = 0;
  int64_t model_bytes_ = 0, sample_bytes_ = 0;
};

std::optional<JobStage> QuantizationSweep::Next() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const At next = running_.has_value() ? After(at_) : at_;
  if (IsDone(next)) return std::nullopt;
  return StageOf(next.step);
}

JobStage QuantizationSweep::StageOf(Step step) const {
  // The compiler and its code, or the copies that networks are timed with. Networks in several forms (as
  // imported, optimized, quantized, compiled) and histograms are each at most as large as the model in f32.
  constexpr int64_t kToolBytes = int64_t{2} << 30, kCopiesOfModel = 8, kCopiesOfSamples = 2;
  JobStage stage{.name = Name(step), .needs = {}, .memory_bytes = kToolBytes, .seconds = {}};
  stage.memory_bytes += kCopiesOfModel * model_bytes_ + kCopiesOfSamples * sample_bytes_;
  if (step == Step::kMeasure) {
    stage.needs.push_back({.key = place_.devices.front(), .amount = settings_.threads, .exclusive = true});
  } else {
    stage.needs.push_back({.key = kProcessorsKey, .amount = step == Step::kJudge ? 1 : place_.processors});
  }
  const auto known = seconds_.find(stage.name);
  if (known == seconds_.end()) return stage;
  constexpr double kMedian = 0.5;
  stage.seconds = {.low = QuantileOf(known->second, 0),
                   .median = QuantileOf(known->second, kMedian),
                   .high = QuantileOf(known->second, 1)};
  return stage;
}

absl::Status QuantizationSweep::Run(const JobGrant& grant) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (IsDone(at_)) return absl::OkStatus();
    running_.emplace();
  }
  absl::StatusOr<Json> row =
      cancellation_.is_cancelled() ? absl::CancelledError("the sweep was cancelled") : RunStep(grant);
  // The model has failed, and not one of its variants.
  const bool is_job_over = !row.ok() && (at_.step == Step::kPrepare || absl::IsCancelled(row.status()) ||
                                         absl::IsUnavailable(row.status()));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const double seconds = running_->Seconds();
    NoteSeconds(Name(at_.step), seconds);
    if (at_.step != Step::kPrepare) seconds_of_variant_[Name(at_.step)] = seconds;
    if (is_job_over) running_.reset();
  }
  if (is_job_over) return row.status();
  if (!row.ok()) row = Json{{"error", row.status().message()}};
  const absl::Status status = row->is_null() ? absl::OkStatus() : AddRow(*row);
  const std::lock_guard<std::mutex> lock(mutex_);
  running_.reset();
  if (status.ok()) at_ = After(row->is_null() ? at_ : At{Step::kJudge, at_.variant});
  if (at_.step == Step::kCalibrate) NoteBytes();
  return status;
}

absl::StatusOr<Json> QuantizationSweep::RunStep(const JobGrant& grant) {
  // The measuring processes pin themselves; their helpers had better not share their processors.
  const bool is_timed = at_.step == Step::kMeasure;
  const PinnedTo pinned(is_timed ? std::span<const int>() : std::span<const int>(grant.processors));
  const int threads =
      grant.processors.empty() ? place_.processors : static_cast<int>(grant.processors.size());
  const QuantizationVariant& variant = pending_[at_.variant];
  switch (at_.step) {
    case Step::kPrepare:
      RETURN_IF_ERROR(work_.Prepare(threads));
      break;
    case Step::kCalibrate:
      RETURN_IF_ERROR(work_.Calibrate(variant, threads));
      break;
    case Step::kBuild:
      RETURN_IF_ERROR(work_.Build(variant, threads));
      break;
    case Step::kMeasure:
      // The processors of a device elsewhere are its own business.
      RETURN_IF_ERROR(work_.Measure(place_.service == nullptr ? grant.processors : std::vector<int>()));
      break;
    case Step::kJudge:
      return work_.Judge(variant, table_.baseline_ms());
  }
  return Json();
}

absl::Status QuantizationSweep::AddRow(const Json& results) {
  QuantizationVariant variant = pending_[at_.variant];
  Json row = {{"name", variant.name}};
  WriteOptions(OptionsOf(variant), SettingsOf::kVariant, row);
  if (variant.calibration != quant::RangeMethod::kPercentile) row.erase("percentile");
  row.update(results);
  row["seconds"] = std::exchange(seconds_of_variant_, Json::object());
  work_.Forget();
  RETURN_IF_ERROR(table_.Append(std::move(row)));
  return table_.rows().size() == settings_.variants.size() ? WriteResult() : absl::OkStatus();
}

double QuantizationSweep::RemainingSeconds() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  double sum = 0;
  for (At at = at_; !IsDone(at); at = After(at)) {
    const double seconds = StageOf(at.step).seconds.median;
    // After a process has died, the time to prepare is not known, but those of the variants are.
    if (seconds <= 0 && at.step != Step::kPrepare) return 0;
    sum += seconds;
  }
  return sum;
}

std::string QuantizationSweep::Progress() const {
  std::string text = absl::StrCat(table_.rows().size(), " of ", settings_.variants.size(), " variants");
  const Json* best = Best();
  if (best == nullptr) return text;
  constexpr double kPercent = 100;
  const char* const loss = best->contains("judged_loss") ? "judged_loss" : "drop";
  absl::StrAppendFormat(&text, ", best %s: %.2f× at %.1f %% loss", best->at("name").get<std::string>(),
                        best->at("speedup").get<double>(), kPercent * best->at(loss).get<double>());
  return text;
}

std::string QuantizationSweep::Result() const {
  Json result = {{"model", settings_.model},
                 {"device", device_},
                 {"threads", settings_.threads},
                 {"baseline_ms", nullptr},
                 {"best", nullptr}};
  if (const double baseline = table_.baseline_ms(); baseline > 0) result["baseline_ms"] = baseline;
  if (const Json* best = Best()) result["best"] = best->at("name");
  result["variants"] = table_.rows();
  return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::Status CreateFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(path, ": cannot create the folder: ", error.message()));
}

}  // namespace

absl::Status CheckQuantizationSweep(const JobSpec& spec) { return ReadSweepSettings(spec).status(); }

absl::StatusOr<std::unique_ptr<Job>> OpenQuantizationSweep(const JobSpec& spec, const JobPlace& place) {
  ASSIGN_OR_RETURN(SweepSettings settings, ReadSweepSettings(spec));
  if (place.devices.empty())
    return absl::FailedPreconditionError(
        "a quantization job needs a device to time networks on; there is none");
  ASSIGN_OR_RETURN(DeviceInfo device, place.service != nullptr ? place.service->device() : HostDevice());
  if (settings.output.empty()) settings.output = place.folder;
  RETURN_IF_ERROR(CreateFolder(settings.output));
  if (!settings.json.empty()) RETURN_IF_ERROR(OutputFile::Check(settings.json));
  const std::string digest =
      Sha256Hex(spec.settings.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  const std::string path = (std::filesystem::path(place.folder) / "quantization.json").string();
  ASSIGN_OR_RETURN(QuantizationTable table, QuantizationTable::Open(path, digest));
  auto sweep =
      std::make_unique<QuantizationSweep>(std::move(settings), place, std::move(device), std::move(table));
  // The process before this one may have ended just before it wrote the result.
  if (!sweep->Next().has_value()) RETURN_IF_ERROR(sweep->WriteResult());
  return sweep;
}

}  // namespace attune
