#include "measure/codec.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/process/message_checks.h"
#include "base/status.h"
#include "measure/measure.pb.h"

namespace attune {
namespace {

namespace proto = measure_proto;

constexpr int64_t kMaxBytes = int64_t{1} << 40;
constexpr int kMaxParams = 4096, kMaxDims = 64, kMaxThreads = 1024, kMaxProcessors = 1 << 16;
constexpr size_t kMaxReasonBytes = 64 << 10;

void Encode(const KernelCode& code, proto::KernelCode* to) {
  to->set_code(code.bytes);
  for (const KernelCode::Phase& phase : code.phases) {
    proto::KernelCode::Phase* added = to->add_phases();
    added->set_offset(phase.offset);
    added->set_parallel(phase.parallel);
  }
  to->set_scratch_bytes(code.scratch_bytes);
  for (const KernelParam& param : code.params) {
    proto::KernelCode::Param* added = to->add_params();
    added->set_kind(static_cast<uint32_t>(param.kind));
    added->set_index(param.index);
    added->set_dtype(static_cast<uint32_t>(param.dtype));
    added->set_bytes(param.bytes);
  }
}

KernelCode Decode(const proto::KernelCode& from, int64_t num_prepackings, MessageChecks& checks) {
  KernelCode code;
  code.bytes = from.code();
  checks.Integer(std::ssize(code.bytes), 1, kMaxBytes);
  checks.Integer(from.phases_size(), 1, kMaxParams);
  checks.Count(from.params_size(), kMaxParams);
  for (const proto::KernelCode::Phase& phase : from.phases()) {
    code.phases.push_back({checks.Integer(phase.offset(), 0, std::ssize(code.bytes) - 1), phase.parallel()});
  }
  code.scratch_bytes = checks.Integer(from.scratch_bytes(), 0, kMaxBytes);
  for (const proto::KernelCode::Param& param : from.params()) {
    const ParamKind kind = checks.OneOf(param.kind(), ParamKind::kWorkspace);
    const int64_t most = kind == ParamKind::kPrepacked ? num_prepackings - 1 : kMaxParams;
    code.params.push_back({kind, checks.Int(param.index(), 0, most),
                           checks.OneOf(param.dtype(), DType::kBool),
                           checks.Integer(param.bytes(), 0, kMaxBytes)});
  }
  return code;
}

void Encode(const MeasureOptions& options, proto::Options* to) {
  to->set_cache(static_cast<uint32_t>(options.cache));
  to->set_threads(options.threads);
  to->set_batch_seconds(options.batch_seconds);
  to->set_precision(options.precision);
  to->set_precision_of_slower(options.precision_of_slower);
  to->set_confidence(options.confidence);
  to->set_max_batches(options.max_batches);
  to->set_seconds_limit(options.seconds_limit);
  to->set_worst_precision(options.worst_precision);
  to->set_until_significant(options.until_significant);
  to->set_best_ratio(options.best_ratio);
  to->set_abandon_ratio(options.abandon_ratio);
  to->set_execution_seconds_limit(options.execution_seconds_limit);
  to->set_memory_bytes_limit(options.memory_bytes_limit);
  to->set_cold_bytes(options.cold_bytes);
}

MeasureOptions Decode(const proto::Options& from, MessageChecks& checks) {
  constexpr double kMostRatio = 1e9;
  MeasureOptions options;
  options.cache = checks.OneOf(from.cache(), CacheMode::kNetwork);
  options.threads = checks.Int(from.threads(), 1, kMaxThreads);
  options.batch_seconds = checks.Seconds(from.batch_seconds());
  options.precision = checks.Real(from.precision(), 0, 1);
  options.precision_of_slower = checks.Real(from.precision_of_slower(), 0, 1);
  options.confidence = checks.Real(from.confidence(), 1e-9, 1 - 1e-9);
  options.max_batches = checks.Int(from.max_batches(), 1, 1 << 20);
  options.seconds_limit = checks.Seconds(from.seconds_limit());
  options.worst_precision = checks.Real(from.worst_precision(), 0, kMostRatio);
  options.until_significant = from.until_significant();
  options.best_ratio = checks.Real(from.best_ratio(), 0, kMostRatio);
  options.abandon_ratio = checks.Real(from.abandon_ratio(), 0, kMostRatio);
  options.execution_seconds_limit = checks.Seconds(from.execution_seconds_limit());
  options.memory_bytes_limit = checks.Integer(from.memory_bytes_limit(), 0, kMaxBytes);
  options.cold_bytes = checks.Integer(from.cold_bytes(), 0, kMaxBytes);
  return options;
}

void Encode(const MeasureItem& item, proto::Item* to) {
  to->set_kind(static_cast<uint32_t>(item.kind));
  Encode(item.options, to->mutable_options());
  to->set_subject(item.subject);
  to->set_data(item.data);
  to->set_baseline(item.baseline);
  to->set_baseline_seconds(item.baseline_seconds);
  to->mutable_processors()->Add(item.processors.begin(), item.processors.end());
}

MeasureItem Decode(const proto::Item& from, MessageChecks& checks) {
  MeasureItem item;
  item.kind = checks.OneOf(from.kind(), MeasureItem::Kind::kMeasurePeaks);
  item.options = Decode(from.options(), checks);
  item.subject = checks.Digest(from.subject());
  item.data = checks.Digest(from.data());
  item.baseline = checks.Digest(from.baseline());
  item.baseline_seconds = checks.Seconds(from.baseline_seconds());
  checks.Count(from.processors_size(), kMaxProcessors);
  for (const int processor : from.processors())
    item.processors.push_back(checks.Int(processor, 0, kMaxProcessors));
  return item;
}

void Encode(const KernelTurns& turns, google::protobuf::RepeatedPtrField<proto::KernelTurns>* to) {
  for (const auto& [digest, seconds] : turns) {
    proto::KernelTurns* added = to->Add();
    added->set_code_digest(digest);
    added->mutable_seconds()->Add(seconds.begin(), seconds.end());
  }
}

KernelTurns Decode(const google::protobuf::RepeatedPtrField<proto::KernelTurns>& from,
                   MessageChecks& checks) {
  KernelTurns turns;
  for (const proto::KernelTurns& one : from) {
    // The digest in the artifact, not the digest of a blob.
    checks.Count(std::ssize(one.code_digest()), MessageChecks::kDigestBytes);
    std::vector<double>& seconds = turns[one.code_digest()];
    for (const double value : one.seconds()) seconds.push_back(checks.Seconds(value));
  }
  return turns;
}

void Encode(const Peaks& peaks, proto::Peaks* to) {
  to->set_gflops_per_core(peaks.gflops_per_core);
  to->set_bf16_gflops_per_core(peaks.bf16_gflops_per_core);
  to->set_int8_gops_per_core(peaks.int8_gops_per_core);
  to->set_l2_gb_per_s(peaks.l2_gb_per_s);
  to->set_l3_gb_per_s(peaks.l3_gb_per_s);
  to->set_memory_gb_per_s(peaks.memory_gb_per_s);
  to->set_l2_bytes(peaks.l2_bytes);
}

Peaks Decode(const proto::Peaks& from, MessageChecks& checks) {
  constexpr double kMost = 1e9;
  return {.gflops_per_core = checks.Real(from.gflops_per_core(), 0, kMost),
          .bf16_gflops_per_core = checks.Real(from.bf16_gflops_per_core(), 0, kMost),
          .int8_gops_per_core = checks.Real(from.int8_gops_per_core(), 0, kMost),
          .l2_gb_per_s = checks.Real(from.l2_gb_per_s(), 0, kMost),
          .l3_gb_per_s = checks.Real(from.l3_gb_per_s(), 0, kMost),
          .memory_gb_per_s = checks.Real(from.memory_gb_per_s(), 0, kMost),
          .l2_bytes = checks.Integer(from.l2_bytes(), 0, kMaxBytes)};
}

}  // namespace

std::string EncodeKernel(const BuiltKernel& kernel) {
  proto::Kernel message;
  Encode(kernel.code, message.mutable_code());
  for (const KernelCode& prepacking : kernel.prepackings) Encode(prepacking, message.add_prepackings());
  message.set_code_digest(kernel.code_digest);
  message.set_num_dims(kernel.num_dims);
  message.set_spreads_rounding(kernel.spreads_rounding);
  return message.SerializeAsString();
}

absl::StatusOr<BuiltKernel> DecodeKernel(std::string_view blob) {
  ASSIGN_OR_RETURN(const proto::Kernel message, ParseMessage<proto::Kernel>(blob));
  MessageChecks checks;
  BuiltKernel kernel;
  kernel.code = Decode(message.code(), message.prepackings_size(), checks);
  checks.Count(message.prepackings_size(), kMaxParams);
  for (const proto::KernelCode& prepacking : message.prepackings())
    kernel.prepackings.push_back(Decode(prepacking, 0, checks));
  kernel.code_digest = checks.Digest(message.code_digest());
  kernel.num_dims = checks.Int(message.num_dims(), 0, kMaxDims);
  kernel.spreads_rounding = message.spreads_rounding();
  RETURN_IF_ERROR(checks.Finish());
  return kernel;
}

std::string EncodeWorkerRequest(const WorkerRequest& request) {
  proto::WorkerRequest message;
  message.set_version(kMeasureVersion);
  if (const auto* item = std::get_if<MeasureItem>(&request)) {
    Encode(*item, message.mutable_item());
  } else if (const auto* blob = std::get_if<NewBlob>(&request)) {
    message.set_blob(blob->digest);
  } else {
    message.set_forget(std::get<ForgetBlob>(request).digest);
  }
  return message.SerializeAsString();
}

absl::StatusOr<WorkerRequest> DecodeWorkerRequest(std::string_view text) {
  ASSIGN_OR_RETURN(const proto::WorkerRequest message,
                   ParseRequest<proto::WorkerRequest>(text, kMeasureVersion));
  MessageChecks checks;
  WorkerRequest request;
  if (message.has_item()) {
    request = Decode(message.item(), checks);
  } else if (message.has_blob()) {
    request = NewBlob{checks.Digest(message.blob())};
  } else if (message.has_forget()) {
    request = ForgetBlob{checks.Digest(message.forget())};
  } else {
    return absl::DataLossError("an empty message");
  }
  RETURN_IF_ERROR(checks.Finish());
  return request;
}

std::string EncodeMeasurement(const Measurement& m) {
  proto::Measurement message;
  message.set_outcome(static_cast<uint32_t>(m.outcome));
  message.set_reason(m.reason);
  message.set_seconds(m.seconds);
  proto::Timing* timing = message.mutable_timing();
  timing->set_seconds(m.timing.seconds);
  timing->set_low(m.timing.low);
  timing->set_high(m.timing.high);
  timing->set_repetitions(m.timing.repetitions);
  message.set_abandoned(m.abandoned);
  proto::Ratio* ratio = message.mutable_ratio();
  ratio->set_baseline_seconds(m.baseline_seconds);
  ratio->set_ratio(m.ratio);
  ratio->set_low(m.ratio_low);
  ratio->set_high(m.ratio_high);
  ratio->set_is_significant(m.is_significant);
  ratio->set_normalized_seconds(m.normalized_seconds);
  Encode(m.profile, message.mutable_profile());
  Encode(m.baseline_profile, message.mutable_baseline_profile());
  Encode(m.peaks, message.mutable_peaks());
  message.mutable_run_seconds()->Add(m.run_seconds.begin(), m.run_seconds.end());
  message.set_waited_share(m.waited_share);
  for (const OutputValue& output : m.outputs) {
    proto::OutputValue* added = message.add_outputs();
    added->mutable_shape()->Add(output.shape.begin(), output.shape.end());
    added->set_bytes(output.bytes);
  }
  return message.SerializeAsString();
}

absl::StatusOr<Measurement> DecodeMeasurement(std::string_view text) {
  constexpr double kMostRatio = 1e12;
  ASSIGN_OR_RETURN(const proto::Measurement message, ParseMessage<proto::Measurement>(text));
  MessageChecks checks;
  Measurement m;
  m.outcome = checks.OneOf(message.outcome(), TrialOutcome::kRetry);
  checks.Count(std::ssize(message.reason()), kMaxReasonBytes);
  m.reason = message.reason();
  m.seconds = checks.Seconds(message.seconds());
  const proto::Timing& timing = message.timing();
  m.timing = {checks.Seconds(timing.seconds()), checks.Seconds(timing.low()), checks.Seconds(timing.high()),
              checks.Integer(timing.repetitions(), 0, INT64_MAX)};
  m.abandoned = message.abandoned();
  const proto::Ratio& ratio = message.ratio();
  m.baseline_seconds = checks.Seconds(ratio.baseline_seconds());
  m.ratio = checks.Real(ratio.ratio(), 0, kMostRatio);
  m.ratio_low = checks.Real(ratio.low(), 0, kMostRatio);
  m.ratio_high = checks.Real(ratio.high(), 0, kMostRatio);
  m.is_significant = ratio.is_significant();
  m.normalized_seconds = checks.Seconds(ratio.normalized_seconds());
  m.profile = Decode(message.profile(), checks);
  m.baseline_profile = Decode(message.baseline_profile(), checks);
  m.peaks = Decode(message.peaks(), checks);
  for (const double seconds : message.run_seconds()) m.run_seconds.push_back(checks.Seconds(seconds));
  m.waited_share = checks.Real(message.waited_share(), 0, kMostRatio);
  for (const proto::OutputValue& output : message.outputs())
    m.outputs.push_back({.shape = {output.shape().begin(), output.shape().end()}, .bytes = output.bytes()});
  RETURN_IF_ERROR(checks.Finish());
  return m;
}

}  // namespace attune
