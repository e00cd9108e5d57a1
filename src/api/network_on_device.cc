#include "api/network_on_device.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/network_blobs.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr double kAskSeconds = 0.1;  // between two looks whether the work is cancelled
constexpr int kAttempts = 3;         // if measuring itself fails
constexpr double kRunSecondsLimit = 600;

absl::StatusOr<Tensor> TensorOf(const OutputValue& value, DType dtype) {
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, Shape(value.shape.begin(), value.shape.end())));
  if (static_cast<size_t>(tensor.num_bytes()) != value.bytes.size())
    return absl::DataLossError("the device has returned an output of another size than its shape");
  if (!value.bytes.empty()) std::memcpy(tensor.mutable_data(), value.bytes.data(), value.bytes.size());
  return tensor;
}

// The seconds of each instruction, from those of all calls of each kernel, which its instructions share.
std::vector<InstructionTime> InstructionTimes(const NetworkDescription& description,
                                              const KernelTurns& turns) {
  const std::vector<Instruction>& instructions = description.program().instructions;
  const auto digest_of = [&](const Instruction& instruction) {
    return instruction.opcode == Opcode::kCall ? description.variant().kernels[instruction.kernel].digest
                                               : "";
  };
  std::map<std::string, int> uses;
  for (const Instruction& instruction : instructions) ++uses[digest_of(instruction)];
  std::vector<InstructionTime> times;
  for (const Instruction& instruction : instructions) {
    const std::string digest = digest_of(instruction);
    InstructionTime time = {.label = instruction.label};
    if (instruction.opcode == Opcode::kCall) time.kernel = static_cast<int32_t>(instruction.kernel);
    if (const auto found = turns.find(digest); found != turns.end() && !found->second.empty()) {
      std::vector<double> seconds = found->second;
      const auto middle = seconds.begin() + std::ssize(seconds) / 2;
      std::nth_element(seconds.begin(), middle, seconds.end());
      time.seconds = *middle / uses[digest];
    }
    times.push_back(time);
  }
  return times;
}

}  // namespace

int NetworkOnDevice::Threads(int threads) const {
  return threads > 0 ? threads : static_cast<int>(service_->device().usable.size());
}

absl::StatusOr<Measurement> NetworkOnDevice::MeasureOne(const MeasureItem& item) {
  Measurement measurement;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::unique_ptr<MeasureBatch> batch = service_->Submit({item});
    while (!batch->is_over()) {
      if (control_.is_cancelled()) batch->Cancel();
      if (auto result = batch->Next(After(kAskSeconds))) measurement = std::move(result->second);
    }
    RETURN_IF_ERROR(control_.Continue("measuring"));
    if (measurement.outcome == TrialOutcome::kOk) return measurement;
    if (measurement.outcome != TrialOutcome::kRetry) break;
  }
  return absl::UnavailableError(absl::StrCat("the device did not run it: ", measurement.reason));
}

absl::StatusOr<Measurement> NetworkOnDevice::Measure(const Network& network,
                                                     const std::vector<NamedTensor>& inputs,
                                                     MeasureItem item) {
  ASSIGN_OR_RETURN(const NetworkBlobs blobs, BlobsOf(network, inputs));
  RETURN_IF_ERROR(control_.Continue("sending the network"));
  RETURN_IF_ERROR(PutMissing(*service_, blobs.artifact));
  RETURN_IF_ERROR(PutMissing(*service_, blobs.inputs));
  item.subject = blobs.artifact.digest();
  item.data = blobs.inputs.digest();
  item.options.execution_seconds_limit = kRunSecondsLimit;
  absl::StatusOr<Measurement> measurement = MeasureOne(item);
  if (!measurement.ok()) return Annotate(measurement.status(), network.source());
  return measurement;
}

absl::StatusOr<std::vector<NamedTensor>> NetworkOnDevice::Run(const Network& network,
                                                              const std::vector<NamedTensor>& inputs,
                                                              int threads) {
  if (service_ == nullptr) return network.Run(inputs, threads);
  RETURN_IF_ERROR(network.CheckNames(inputs));
  ASSIGN_OR_RETURN(const NetworkDescription description, network.Describe());
  MeasureItem item = {.kind = MeasureItem::Kind::kRunNetwork};
  item.options.threads = Threads(threads);
  item.options.max_batches = 1;
  ASSIGN_OR_RETURN(const Measurement measurement, Measure(network, inputs, std::move(item)));
  const Program& program = description.program();
  if (measurement.outputs.size() != program.outputs.size())
    return absl::DataLossError(absl::StrCat(network.source(), ": the device has returned other outputs"));
  std::vector<NamedTensor> outputs;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    const Port& port = program.outputs[i];
    ASSIGN_OR_RETURN(Tensor tensor, TensorOf(measurement.outputs[i],
                                             static_cast<DType>(program.tensors[port.tensor].dtype)));
    outputs.push_back({port.name, std::move(tensor)});
  }
  return outputs;
}

absl::StatusOr<VerifyReport> NetworkOnDevice::Verify(const Network& network,
                                                     const std::vector<NamedTensor>& inputs, uint64_t seed,
                                                     int threads) {
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> complete, network.Complete(inputs, seed));
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> actual, Run(network, complete, threads));
  return network.VerifyOutputs(complete, actual);
}

absl::StatusOr<TimedRuns> NetworkOnDevice::Bench(const Network& network, int threads, double seconds,
                                                 const std::vector<NamedTensor>& inputs, uint64_t seed) {
  if (service_ == nullptr) return network.Bench(threads, seconds, inputs, seed);
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> complete, network.Complete(inputs, seed));
  constexpr int kMostRuns = 1 << 17;
  MeasureItem item = {.kind = MeasureItem::Kind::kRunNetwork};
  item.options.threads = Threads(threads);
  item.options.max_batches = kMostRuns;
  item.options.seconds_limit = seconds;
  ASSIGN_OR_RETURN(const Measurement measurement, Measure(network, complete, std::move(item)));
  TimedRuns runs = {.waited_share = measurement.waited_share};
  for (const double run : measurement.run_seconds) runs.milliseconds.push_back(1e3 * run);
  return runs;
}

absl::StatusOr<ProfileReport> NetworkOnDevice::Profile(const Network& network, int threads, int rounds,
                                                       const std::vector<NamedTensor>& inputs,
                                                       uint64_t seed) {
  if (service_ == nullptr) return network.Profile(threads, rounds, inputs, seed);
  ASSIGN_OR_RETURN(const NetworkDescription description, network.Describe());
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> complete, network.Complete(inputs, seed));
  MeasureItem item = {.kind = MeasureItem::Kind::kProfileNetwork};
  item.options.threads = Threads(threads);
  ASSIGN_OR_RETURN(const Measurement measurement, Measure(network, complete, item));
  MeasureItem peaks = {.kind = MeasureItem::Kind::kMeasurePeaks};
  peaks.options.threads = item.options.threads;
  ASSIGN_OR_RETURN(const Measurement measured, MeasureOne(peaks));
  ProfileReport report =
      AssembleProfile(description.variant().kernels, InstructionTimes(description, measurement.profile),
                      measured.peaks, CachesOf(service_->device().target), item.options.threads);
  report.waited_share = measurement.waited_share;
  return report;
}

}  // namespace attune
