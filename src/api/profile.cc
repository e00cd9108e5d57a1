#include "api/profile.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/dtype.h"
#include "base/status.h"
#include "device/host.h"
#include "device/peaks.h"
#include "graph/op.h"
#include "lower/strategy.h"
#include "runtime/model.h"

namespace attune {
namespace {

struct Row {
  KernelProfile profile;
  std::map<int32_t, int64_t> calls;  // by kernel; all phases of a kernel have the same number of calls
  double seconds = 0;
  Work work;  // the least that its calls must do
};

// Whether a kernel multiplies bf16. The artifact does not say, so this guesses: at least half of the float
// tensors that it reads are bf16, since both factors are. The others are addends, which may be f32, and
// masks.
bool ReadsBF16(const KernelInfo& kernel) {
  int narrow = 0, wide = 0;
  for (const OperandInfo& operand : kernel.interface.operands) {
    const auto dtype = static_cast<DType>(operand.dtype);
    if (operand.is_written || !IsFloat(dtype)) continue;
    ++(dtype == DType::kBF16 ? narrow : wide);
  }
  return narrow > 0 && narrow >= wide;
}

// The type of the numbers that the kernel multiplies.
Multiplicand MultiplicandOf(const KernelInfo& kernel) {
  bool has_product = false;
  for (const std::string_view name : absl::StrSplit(kernel.op, '+')) {  // conv_integer+relu
    const std::optional<Op> op = ParseOp(name);
    if (op && IsIntegerProduct(*op)) return Multiplicand::kInt8;
    has_product |= op && GetOpInfo(*op).category == OpCategory::kContraction;
  }
  return has_product && ReadsBF16(kernel) ? Multiplicand::kBF16 : Multiplicand::kF32;
}

// The share of the operations that the kernel's algorithm needs.
double LeastShareOf(const KernelInfo& kernel) {
  const Strategy* strategy = FindStrategy(kernel.strategy.substr(0, kernel.strategy.find(' ')));
  return strategy == nullptr ? 1 : strategy->least_work;
}

// One row per kernel. The phases of a kernel are functions of one object, so they share its digest.
class Rows {
 public:
  explicit Rows(std::span<const KernelInfo> kernels) : kernels_(kernels) {}

  Row& Of(const InstructionTime& instruction) {
    if (instruction.kernel < 0) {
      Row& row = rows_["copy"];
      row.profile.op = "copy";
      return row;
    }
    const KernelInfo& kernel = kernels_[static_cast<size_t>(instruction.kernel)];
    Row& row = rows_[absl::StrCat(kernel.digest, " ", kernel.op, " ", kernel.strategy)];
    row.profile.op = kernel.op;
    row.profile.multiplicand = MultiplicandOf(kernel);
    row.profile.strategy = kernel.strategy;
    row.profile.flops += static_cast<double>(kernel.flops);
    row.work.flops += LeastShareOf(kernel) * static_cast<double>(kernel.flops);
    row.work.bytes_read += static_cast<double>(kernel.bytes_read);
    row.work.bytes_written += static_cast<double>(kernel.bytes_written);
    return row;
  }

  // Slowest first.
  std::vector<Row> Take() {
    std::vector<Row> rows;
    for (auto& [key, row] : rows_) {
      for (const auto& [kernel, calls] : row.calls) row.profile.calls = std::max(row.profile.calls, calls);
      row.profile.seconds = row.seconds;
      row.profile.bytes = row.work.bytes();
      row.work.multiplicand = row.profile.multiplicand;
      row.work.calls = static_cast<double>(row.profile.calls);
      rows.push_back(std::move(row));
    }
    std::ranges::sort(rows, [](const Row& x, const Row& y) {
      const KernelProfile &a = x.profile, &b = y.profile;
      return std::tie(b.seconds, a.op, a.strategy) < std::tie(a.seconds, b.op, b.strategy);
    });
    return rows;
  }

 private:
  const std::span<const KernelInfo> kernels_;
  std::map<std::string, Row> rows_;
};

double Median(std::vector<uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return static_cast<double>(*middle);
}

void Rate(KernelProfile& kernel, const Work& work, double total_seconds, const Peaks& peaks,
          const CacheSizes& caches, int threads) {
  Roofline roofline = RooflineOf(work, kernel.seconds, peaks, threads);
  if (roofline.seconds > kernel.seconds) roofline = BoundOf(work, peaks, caches, threads);
  kernel.bound = roofline.bound;
  kernel.roofline_seconds = roofline.seconds;
  if (kernel.seconds <= 0) return;
  kernel.share = kernel.seconds / total_seconds;
  kernel.gflops_per_s = kernel.flops / kernel.seconds * 1e-9;
  kernel.gb_per_s = kernel.bytes / kernel.seconds * 1e-9;
  kernel.peak_share = kernel.flops / kernel.seconds / PeakOf(work, peaks, threads);
  kernel.roofline_share = kernel.roofline_seconds / kernel.seconds;
}

}  // namespace

ProfileReport AssembleProfile(std::span<const KernelInfo> kernels,
                              std::span<const InstructionTime> instructions, const Peaks& peaks,
                              const CacheSizes& caches, int threads) {
  Rows rows(kernels);
  for (const InstructionTime& instruction : instructions) {
    Row& row = rows.Of(instruction);
    row.seconds += instruction.seconds;
    ++row.calls[instruction.kernel];
    std::vector<std::string>& labels = row.profile.labels;
    if (!instruction.label.empty() && std::ranges::find(labels, instruction.label) == labels.end())
      labels.emplace_back(instruction.label);
  }
  ProfileReport report{.kernels = {}, .threads = threads, .peaks = peaks};
  std::vector<Row> taken = rows.Take();
  for (const Row& row : taken) {
    report.seconds += row.profile.seconds;
    report.flops += row.profile.flops;
    report.bytes += row.profile.bytes;
    if (row.profile.seconds > 0)
      report.peaks = AttainedPeaks(report.peaks, row.work, row.profile.seconds, caches, threads);
  }
  for (Row& row : taken) {
    Rate(row.profile, row.work, report.seconds, report.peaks, caches, threads);
    report.kernels.push_back(std::move(row.profile));
  }
  return report;
}

absl::StatusOr<ProfileReport> ProfileSession(Session& session, int threads, int rounds) {
  if (rounds < 1) return InvalidInput("the number of rounds is ", rounds, ", it must be at least 1");
  RETURN_IF_ERROR(session.Run());
  const attune_model* const model = session.model().handle();
  const size_t count = attune_model_num_instructions(model);
  // Measure peaks before, between and after the rounds, so that a slowdown of the machine affects both.
  Peaks peaks = MeasurePeaks(threads);
  RunWatch watch;
  std::vector<std::vector<uint64_t>> times(count);
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 2) peaks = BestPeaks(peaks, threads);
    watch.Begin();
    ASSIGN_OR_RETURN(const std::vector<uint64_t> nanoseconds, session.RunProfiled());
    watch.End();
    for (size_t i = 0; i < count; ++i) times[i].push_back(nanoseconds[i]);
  }
  peaks = BestPeaks(peaks, threads);

  std::vector<InstructionTime> instructions;
  for (size_t i = 0; i < count; ++i) {
    attune_instruction_info instruction;
    attune_model_instruction(model, i, &instruction, nullptr);
    instructions.push_back(
        {.kernel = instruction.kernel, .label = instruction.label, .seconds = 1e-9 * Median(times[i])});
  }
  ASSIGN_OR_RETURN(const Target target, HostTarget());
  ProfileReport report =
      AssembleProfile(VariantOf(*model).kernels, instructions, peaks, CachesOf(target), threads);
  report.times = watch.times();
  report.waited_share = report.times.waited_share();
  return report;
}

}  // namespace attune
