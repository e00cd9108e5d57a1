#include "tune/task/codec.h"

#include <utility>
#include <vector>

#include "base/process/message.h"
#include "base/status.h"
#include "graph/text.h"

namespace attune {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 40;
constexpr size_t kMaxParams = 4096;
constexpr int64_t kMaxDims = 64;

// Encoding and decoding of a struct are one list of its fields, for an `Archive` that writes or reads them.
class Writing {
 public:
  void Number(const int& value, int64_t, int64_t) { out.Int(value); }
  void Number(const int64_t& value, int64_t, int64_t) { out.Int(value); }
  template <typename Enum>
  void OneOf(const Enum& value, Enum) {
    out.Int(static_cast<int64_t>(value));
  }
  void Flag(const bool& value) { out.Int(value ? 1 : 0); }
  void Real(const double& value) { out.Double(value); }
  void Text(const std::string& value, size_t) { out.Bytes(value); }
  template <typename T, typename F>
  void Each(const std::vector<T>& values, size_t, F field) {
    out.Int(static_cast<int64_t>(values.size()));
    for (const T& value : values) field(value);
  }

  MessageWriter out;
};

class Reading {
 public:
  explicit Reading(std::string_view message) : in(message) {}

  void Number(int& value, int64_t least, int64_t most) { value = static_cast<int>(in.Int(least, most)); }
  void Number(int64_t& value, int64_t least, int64_t most) { value = in.Int(least, most); }
  template <typename Enum>
  void OneOf(Enum& value, Enum last) {
    value = static_cast<Enum>(in.Int(0, static_cast<int64_t>(last)));
  }
  void Flag(bool& value) { value = in.Bool(); }
  void Real(double& value) { value = in.Double(); }
  void Text(std::string& value, size_t most) { value = in.Bytes(most); }
  template <typename T, typename F>
  void Each(std::vector<T>& values, size_t most, F field) {
    values.resize(in.Count(most));
    for (T& value : values) field(value);
  }

  MessageReader in;
};

template <typename Archive, typename Code>
void Fields(Archive& archive, Code& code) {
  archive.Text(code.bytes, kMaxMessageBytes);
  archive.Each(code.phases, kMaxParams, [&](auto& phase) {
    archive.Number(phase.offset, 0, kMaxBytes);
    archive.Flag(phase.parallel);
  });
  archive.Number(code.scratch_bytes, 0, kMaxBytes);
  archive.Each(code.params, kMaxParams, [&](auto& param) {
    archive.OneOf(param.kind, ParamKind::kWorkspace);
    archive.Number(param.index, 0, static_cast<int64_t>(kMaxParams));
    archive.OneOf(param.dtype, DType::kBool);
    archive.Number(param.bytes, 0, kMaxBytes);
  });
}

template <typename Archive, typename Kernel>
void KernelFields(Archive& archive, Kernel& kernel) {
  Fields(archive, kernel.code);
  archive.Each(kernel.preparations, kMaxParams, [&](auto& code) { Fields(archive, code); });
  archive.Text(kernel.code_digest, kMaxNameBytes);
  archive.Number(kernel.num_dims, 0, kMaxDims);
  archive.Flag(kernel.spreads_rounding);
}

template <typename Archive, typename Options>
void OptionFields(Archive& archive, Options& options) {
  archive.OneOf(options.cache, CacheMode::kNetwork);
  archive.Number(options.threads, 1, 1024);
  archive.Real(options.batch_seconds);
  archive.Real(options.precision);
  archive.Real(options.precision_of_slower);
  archive.Real(options.confidence);
  archive.Number(options.max_batches, 1, 1 << 20);
  archive.Real(options.seconds_limit);
  archive.Real(options.worst_precision);
  archive.Flag(options.until_sure);
  archive.Real(options.best_ratio);
  archive.Real(options.abandon_ratio);
  archive.Real(options.execution_seconds_limit);
  archive.Number(options.memory_bytes_limit, 0, INT64_MAX);
  archive.Number(options.cold_bytes, 0, kMaxBytes);
}

template <typename Archive, typename Any>
void TargetFields(Archive& archive, Any& target) {
  constexpr int64_t kMost = INT64_MAX;
  for (auto* text :
       {&target.name, &target.arch, &target.llvm_cpu, &target.llvm_features, &target.llvm_tune}) {
    archive.Text(*text, kMaxTaskBytes);
  }
  for (auto* features : {&target.required_features, &target.modelled_features})
    archive.Each(*features, kMaxParams, [&](auto& feature) { archive.Text(feature, kMaxNameBytes); });
  for (auto* number :
       {&target.vector_bits, &target.num_vector_registers, &target.cores, &target.fma_latency}) {
    archive.Number(*number, 0, 1 << 20);
  }
  for (auto* number : {&target.l1_bytes, &target.l2_bytes, &target.l3_bytes})
    archive.Number(*number, 0, kMost);
  for (auto* real :
       {&target.clock_ghz, &target.fma_per_cycle, &target.half_fma_per_cycle, &target.loads_per_cycle,
        &target.l2_bytes_per_cycle, &target.l3_bytes_per_cycle, &target.dram_bytes_per_cycle,
        &target.bf16_dots_per_cycle, &target.tile_product_cycles, &target.tile_load_cycles}) {
    archive.Real(*real);
  }
  archive.Flag(target.fast_permutes);
}

template <typename Archive, typename Any>
void MeasurementFields(Archive& archive, Any& measurement) {
  archive.OneOf(measurement.outcome, TrialOutcome::kRetry);
  archive.Text(measurement.reason, kMaxReasonBytes);
  archive.Real(measurement.timing.seconds);
  archive.Real(measurement.timing.low);
  archive.Real(measurement.timing.high);
  archive.Number(measurement.timing.repetitions, 0, INT64_MAX);
  archive.Flag(measurement.abandoned);
  for (auto* real : {&measurement.seconds, &measurement.incumbent_seconds, &measurement.ratio,
                     &measurement.ratio_low, &measurement.ratio_high, &measurement.normalized_seconds}) {
    archive.Real(*real);
  }
  archive.Flag(measurement.is_ratio_sure);
}

// Whether every offset lies within the code.
bool IsWhole(const KernelCode& code) {
  if (code.phases.empty() || code.bytes.empty()) return false;
  for (const KernelCode::Phase& phase : code.phases) {
    if (phase.offset >= static_cast<int64_t>(code.bytes.size())) return false;
  }
  return true;
}

bool IsWhole(const BuiltKernel& kernel) {
  for (const KernelCode& preparation : kernel.preparations) {
    if (!IsWhole(preparation)) return false;
  }
  for (const KernelParam& param : kernel.code.params) {
    if (param.kind == ParamKind::kPrepared && param.index >= static_cast<int>(kernel.preparations.size()))
      return false;
  }
  return IsWhole(kernel.code);
}

std::string CutReason(const std::string& reason) { return reason.substr(0, kMaxReasonBytes); }

}  // namespace

std::string EncodeBuildRequest(const BuildRequest& request) {
  MessageWriter out;
  out.Bytes(Print(*request.task->region));
  out.Int(static_cast<int64_t>(request.task->constant_inputs.size()));
  for (int input : request.task->constant_inputs) out.Int(input);
  out.Bytes(request.candidate.strategy);
  out.Int(static_cast<int64_t>(request.candidate.config.size()));
  for (const auto& [name, value] : request.candidate.config) {
    out.Bytes(name);
    out.Int(value);
  }
  return out.text();
}

absl::StatusOr<DecodedBuildRequest> DecodeBuildRequest(std::string_view message) {
  MessageReader in(message);
  DecodedBuildRequest request;
  const std::string text = in.Bytes();
  for (size_t left = in.Count(kMaxParams); left > 0; --left)
    request.task.constant_inputs.insert(static_cast<int>(in.Int(0, static_cast<int64_t>(kMaxParams))));
  request.candidate.strategy = in.Bytes(kMaxNameBytes);
  for (size_t left = in.Count(kMaxConfigNumbers); left > 0; --left) {
    const std::string name = in.Bytes(kMaxNameBytes);
    request.candidate.config[name] = in.Int();
  }
  RETURN_IF_ERROR(in.Finish());
  ASSIGN_OR_RETURN(request.task.region, ParseGraph(text));
  return request;
}

std::string EncodeBuildResult(const BuildResult& result) {
  Writing archive;
  archive.OneOf(result.outcome, TrialOutcome::kRetry);
  archive.Text(CutReason(result.reason), kMaxReasonBytes);
  archive.Real(result.seconds);
  if (result.outcome == TrialOutcome::kOk) KernelFields(archive, result.kernel);
  return archive.out.text();
}

absl::StatusOr<BuildResult> DecodeBuildResult(std::string_view message) {
  Reading archive(message);
  BuildResult result;
  archive.OneOf(result.outcome, TrialOutcome::kRetry);
  archive.Text(result.reason, kMaxReasonBytes);
  archive.Real(result.seconds);
  if (result.outcome == TrialOutcome::kOk) {
    KernelFields(archive, result.kernel);
    if (!IsWhole(result.kernel)) archive.in.Fail();
  }
  RETURN_IF_ERROR(archive.in.Finish());
  return result;
}

std::string EncodeTarget(const Target& target) {
  Writing archive;
  TargetFields(archive, target);
  return archive.out.text();
}

absl::StatusOr<Target> DecodeTarget(std::string_view message) {
  Reading archive(message);
  Target target;
  TargetFields(archive, target);
  RETURN_IF_ERROR(archive.in.Finish());
  return target;
}

std::string EncodeMeasureRequest(const BuiltKernel& kernel, const MeasureOptions& options,
                                 const Incumbent* incumbent) {
  Writing archive;
  KernelFields(archive, kernel);
  OptionFields(archive, options);
  archive.Real(incumbent == nullptr ? 0 : incumbent->seconds);
  const bool has_kernel = incumbent != nullptr && incumbent->kernel != nullptr;
  archive.Flag(has_kernel);
  if (has_kernel) KernelFields(archive, *incumbent->kernel);
  return archive.out.text();
}

absl::StatusOr<MeasureRequest> DecodeMeasureRequest(std::string_view message) {
  Reading archive(message);
  MeasureRequest request;
  KernelFields(archive, request.kernel);
  if (!IsWhole(request.kernel)) archive.in.Fail();
  OptionFields(archive, request.options);
  archive.Real(request.incumbent_seconds);
  if (archive.in.Bool()) {
    KernelFields(archive, request.incumbent.emplace());
    if (!IsWhole(*request.incumbent)) archive.in.Fail();
  }
  RETURN_IF_ERROR(archive.in.Finish());
  return request;
}

std::string EncodeMeasurement(const Measurement& measurement) {
  Writing archive;
  Measurement cut = measurement;
  cut.reason = CutReason(cut.reason);
  MeasurementFields(archive, cut);
  return archive.out.text();
}

absl::StatusOr<Measurement> DecodeMeasurement(std::string_view message) {
  Reading archive(message);
  Measurement measurement;
  MeasurementFields(archive, measurement);
  RETURN_IF_ERROR(archive.in.Finish());
  return measurement;
}

}  // namespace attune
