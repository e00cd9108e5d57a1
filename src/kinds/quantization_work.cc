#include "kinds/quantization_work.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/compiled_executor.h"
#include "api/givens.h"
#include "api/opened_model.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/status.h"
#include "device/contention.h"
#include "kinds/quiet_runs.h"
#include "measure/local_service.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Calibration runs the network hundreds of times; a run is the longest that Cancel() has to wait for.
class CancellableExecutor final : public Executor {
 public:
  CancellableExecutor(int threads, const WorkControl& control)
      : executor_(DefaultPlan(), threads), control_(control) {}

  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Tensor>& inputs) const override {
    RETURN_IF_ERROR(control_.Continue("calibrating"));
    return executor_.Run(graph, inputs);
  }

 private:
  const CompiledExecutor executor_;
  const WorkControl control_;
};

// Errors of writing say nothing about the variant.
absl::Status FaultOfMachine(const absl::Status& status) {
  return status.ok() ? status : absl::UnavailableError(status.message());
}

// The size of a file, or of all files in a folder; 0 if it cannot be read, which loading it will report.
int64_t FileBytes(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const auto bytes = fs::file_size(path, error);
    return error ? 0 : static_cast<int64_t>(bytes);
  }
  int64_t bytes = 0;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    std::error_code not_a_file;
    const auto size = it->file_size(not_a_file);
    if (!not_a_file) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

}  // namespace

absl::Status QuantizationWork::Load() {
  ASSIGN_OR_RETURN(OpenedModel model, OpenedModel::Open(settings_.model, {settings_.signature, {}}));
  RETURN_IF_ERROR(model.CheckIsModel());
  ASSIGN_OR_RETURN(Givens givens,
                   ReadGivens(model, settings_.shapes, settings_.inputs(), &settings_.samples, Control()));
  samples_ = std::move(givens.samples);
  RETURN_IF_ERROR(SetAside());
  network_ = Network::Load(model, givens.options);
  const auto warn = [](std::string_view text) {
    Log(LogLevel::kWarning, "pictures go in as they are", "note", text);
  };
  NoteRawPictures(givens, *network_, warn, "preprocess");
  return network_->status();
}

absl::Status QuantizationWork::Prepare(int threads) {
  RETURN_IF_ERROR(Load());
  ASSIGN_OR_RETURN(digest_, network_->GraphDigest());
  ASSIGN_OR_RETURN(weight_bytes_, network_->WeightBytes());
  ASSIGN_OR_RETURN(baseline_, Compile(*network_, threads));
  return absl::OkStatus();
}

absl::Status QuantizationWork::SetAside() {
  if (settings_.judged == 0) return absl::OkStatus();
  Samples others;
  for (size_t i = 0; i < samples_.size(); ++i) {
    const bool judges = (i + 1) % static_cast<size_t>(settings_.judged) == 0;
    (judges ? judging_ : others).push_back(std::move(samples_[i]));
  }
  samples_ = std::move(others);
  if (!judging_.empty()) return absl::OkStatus();
  return InvalidInput("judged: there are ", samples_.size(), " samples, and one of ", settings_.judged,
                      " is to judge; give more samples");
}

absl::Status QuantizationWork::MeasureLoss(int threads) {
  if (judging_.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, network_->Imported());
  std::vector<quant::Sample> samples;
  for (const std::vector<NamedTensor>& given : judging_) {
    quant::Sample& sample = samples.emplace_back();
    for (const auto& input : graph->inputs()) {
      const auto found = std::ranges::find(given, input->name(), &NamedTensor::name);
      if (found == given.end())
        return InvalidInput("a sample has no value for input \"", input->name(), "\"");
      sample.push_back(found->tensor);
    }
  }
  ASSIGN_OR_RETURN(const QuantizeOptions options,
                   QuantizeOptionsFor(RequestFor(Precision::kInt8, threads), settings_.samples));
  const CancellableExecutor executor(threads, Control());
  ASSIGN_OR_RETURN(const quant::HeldBack expected, quant::RunFloat(*graph, std::move(samples), executor));
  ASSIGN_OR_RETURN(
      const quant::NetworkAgreement agreement,
      quant::MeasureAgreement(*quantized_->quantized()->graph, expected, executor, options.criterion.value));
  loss_ = 1 - agreement.agreement;
  return absl::OkStatus();
}

CompileRequest QuantizationWork::RequestFor(Precision precision, int threads) const {
  CompileRequest request;
  request.precision = precision;
  request.service = elsewhere_;
  request.records = "none";
  request.jobs = threads;
  request.control = Control();
  return request;
}

absl::StatusOr<NetworkBlobs> QuantizationWork::Compile(const Network& network, int threads) const {
  const CompileRequest request = RequestFor(Precision::kF32, threads);
  ASSIGN_OR_RETURN(const Network optimized, OptimizeFor(network, request));
  ASSIGN_OR_RETURN(const Network compiled, CompileFor(optimized, request));
  return BlobsOf(compiled);
}

absl::Status QuantizationWork::Calibrate(const QuantizationVariant& variant, int threads) {
  const Precision precision = variant.is_mixed ? Precision::kAuto : Precision::kInt8;
  ASSIGN_OR_RETURN(QuantizeOptions options,
                   QuantizeOptionsFor(RequestFor(precision, threads), settings_.samples, variant));
  if (settings_.held_back > 0) options.held_back_period = settings_.held_back;
  // Other jobs compute meanwhile, so that times would be wrong; only the stage "measure" has the device.
  options.measures_seconds = false;
  const CancellableExecutor executor(threads, Control());
  options.executor = &executor;
  quantized_ = network_->Quantize(samples_, options);
  return quantized_->status();
}

absl::Status QuantizationWork::Build(const QuantizationVariant& variant, int threads) {
  RETURN_IF_ERROR(FaultOfMachine(quantized_->SaveOnnx(FileOf(variant))));
  ASSIGN_OR_RETURN(built_, Compile(*quantized_, threads));
  return MeasureLoss(threads);
}

absl::Status QuantizationWork::Measure(const std::vector<int>& processors) {
  std::optional<LocalMeasuringService> here;
  if (elsewhere_ == nullptr) here.emplace(device_, LocalServiceOptions());
  MeasuringService& service = here.has_value() ? *here : *elsewhere_;
  for (const Blob* blob : {&built_->artifact, &baseline_->artifact, &baseline_->inputs})
    RETURN_IF_ERROR(FaultOfMachine(PutMissing(service, *blob)));
  MeasureItem item{.kind = MeasureItem::Kind::kTimeNetwork,
                   .subject = built_->artifact.digest(),
                   .data = baseline_->inputs.digest(),
                   .baseline = baseline_->artifact.digest(),
                   .processors = processors};
  // As the tuner measures whole networks.
  item.options.threads = settings_.threads;
  item.options.precision = 0.001;
  item.options.seconds_limit = settings_.measure_seconds;
  item.options.abandon_ratio = 0;
  item.options.max_batches = 5000;
  item.options.memory_bytes_limit = std::min(item.options.memory_bytes_limit, MemoryOfMachine() / 2);
  const auto pause = [&](double seconds) {
    constexpr std::chrono::milliseconds kLook(50);
    for (const Stopwatch waits; waits.Seconds() < seconds; std::this_thread::sleep_for(kLook))
      if (!Control().Continue("measuring").ok()) return false;
    return Control().Continue("measuring").ok();
  };
  ASSIGN_OR_RETURN(measured_, RunQuietly<Measurement>([&] { return MeasureOnce(service, item); }, pause));
  return absl::OkStatus();
}

absl::StatusOr<Measurement> QuantizationWork::MeasureOnce(MeasuringService& service,
                                                          const MeasureItem& item) const {
  constexpr int kAttempts = 3;
  constexpr double kAskSeconds = 0.1;  // between two checks whether the job is cancelled
  Measurement measured;
  for (int attempt = 0; attempt < kAttempts && measured.outcome == TrialOutcome::kRetry; ++attempt) {
    const std::unique_ptr<MeasureBatch> batch = service.Submit({item});
    while (!batch->is_over()) {
      if (auto result = batch->Next(After(kAskSeconds))) measured = std::move(result->second);
      RETURN_IF_ERROR(Control().Continue("measuring"));  // the batch's destructor ends it
    }
  }
  if (measured.outcome == TrialOutcome::kRetry)
    return absl::UnavailableError(absl::StrCat("cannot measure here: ", measured.reason));
  if (measured.outcome != TrialOutcome::kOk) {
    return absl::FailedPreconditionError(
        absl::StrCat("it was not timed (", Name(measured.outcome), "): ", measured.reason));
  }
  if (measured.ratio > 0) return measured;
  return absl::FailedPreconditionError("the f32 network that it is compared with was not timed");
}

absl::StatusOr<nlohmann::ordered_json> QuantizationWork::Judge(const QuantizationVariant& variant,
                                                               double baseline_ms) const {
  constexpr double kMillis = 1e3;
  const quant::QuantizationReport& report = quantized_->quantized()->report;
  if (baseline_ms <= 0) baseline_ms = measured_.baseline_seconds * kMillis;
  nlohmann::ordered_json row = {{"ms", baseline_ms * measured_.ratio},
                                {"baseline_ms", baseline_ms},
                                {"speedup", 1 / measured_.ratio},
                                {"speedup_low", 1 / measured_.ratio_high},
                                {"speedup_high", 1 / measured_.ratio_low},
                                {"waited_share", measured_.waited_share},
                                {"is_disturbed", measured_.waited_share >= kDisturbedShare},
                                {"agreement", report.agreement.agreement},
                                {"cosine", report.agreement.cosine},
                                {"drop", 1 - report.agreement.agreement},
                                {"held_back_samples", report.held_back_samples},
                                {"bytes", FileBytes(FileOf(variant))},
                                {"network", digest_},
                                {"weight_bytes", weight_bytes_},
                                {"artifact_bytes", built_->artifact.size()},
                                {"output", FileOf(variant)}};
  if (loss_.has_value()) row.update({{"judged_loss", *loss_}, {"judged_samples", judging_.size()}});
  return row;
}

void QuantizationWork::Forget() {
  quantized_.reset();
  built_.reset();
  measured_ = {};
  loss_.reset();
}

int64_t QuantizationWork::model_bytes() const {
  const int64_t bytes = FileBytes(settings_.model);
  // A model may have its weights in other files.
  return is_prepared() ? std::max(bytes, baseline_->artifact.size()) : bytes;
}

int64_t QuantizationWork::sample_bytes() const {
  if (!is_prepared()) return kMostSampleBytes;
  int64_t bytes = 0;
  for (const std::vector<NamedTensor>& sample : samples_) {
    for (const NamedTensor& value : sample) bytes += value.tensor.num_bytes();
  }
  return bytes;
}

std::string QuantizationWork::FileOf(const QuantizationVariant& variant) const {
  return (fs::path(output_) / (variant.name + ".onnx")).string();
}

}  // namespace attune
