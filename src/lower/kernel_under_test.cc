#include "lower/kernel_under_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "codegen/codegen.h"
#include "codegen/host_code.h"
#include "codegen/run_kernel.h"
#include "device/host.h"
#include "lower/strategy.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

// Calls f(flat index in `box`, flat index in the memory of `type`) for each element of `box`. The shape of
// `type` holds `box` and may be larger.
template <typename F>
void ForEachElement(const Shape& box, const TensorType& type, F f) {
  const Shape physical = type.physical_shape();
  const int64_t count = [&] {
    int64_t n = 1;
    for (int64_t d : box) n *= d;
    return n;
  }();
  for (int64_t flat = 0; flat < count; ++flat) {
    Shape index(box.size());
    int64_t rest = flat;
    for (size_t d = box.size(); d-- > 0; rest /= box[d]) index[d] = rest % box[d];
    if (!type.layout.is_plain()) {
      const auto axis = static_cast<size_t>(type.layout.blocked_axis);
      index.push_back(index[axis] % type.layout.block);
      index[axis] /= type.layout.block;
    }
    int64_t place = 0;
    for (size_t d = 0; d < index.size(); ++d) place = place * physical[d] + index[d];
    f(flat, place);
  }
}

// The bytes of a value in its layout. The bytes between its elements are NaN, or -1.
std::vector<std::byte> ToMemory(const Tensor& tensor, const TensorType& type) {
  const auto size = static_cast<size_t>(DTypeSize(type.dtype));
  std::vector<std::byte> bytes(static_cast<size_t>(type.num_physical_elements()) * size, std::byte{0xFF});
  ForEachElement(tensor.shape(), type, [&](int64_t flat, int64_t place) {
    std::memcpy(bytes.data() + static_cast<size_t>(place) * size,
                tensor.data() + static_cast<size_t>(flat) * size, size);
  });
  return bytes;
}

Tensor FromMemory(const std::byte* bytes, const TensorType& type, const Shape& shape) {
  Tensor tensor(type.dtype, shape);
  const auto size = static_cast<size_t>(DTypeSize(type.dtype));
  ForEachElement(shape, type, [&](int64_t flat, int64_t place) {
    std::memcpy(tensor.mutable_data() + static_cast<size_t>(flat) * size,
                bytes + static_cast<size_t>(place) * size, size);
  });
  return tensor;
}

struct KernelUnderTest {
  const GroupUnderTest* group;
  const Strategy* strategy;
  std::string description;
  LoopNest nest;
  CompiledKernel compiled;
};

// Compiles `group` by one strategy.
absl::StatusOr<KernelUnderTest> Compile(const GroupUnderTest& group, const std::string& name,
                                        const Strategy& strategy, const Config& config,
                                        const Workload& workload, const Target& target) {
  KernelUnderTest kernel{.group = &group,
                         .strategy = &strategy,
                         .description = absl::StrCat(group.description, " by ", strategy.name),
                         .nest = {},
                         .compiled = {}};
  ASSIGN_OR_RETURN(const ScheduledGroup scheduled, ScheduleBy(strategy, workload, config, target));
  ASSIGN_OR_RETURN(kernel.nest, scheduled.schedule.Lower());
  kernel.nest.name = name;
  ASSIGN_OR_RETURN(kernel.compiled, CompileKernel(kernel.nest, target));
  return kernel;
}

// Runs the phases, parallel ones in several parts, some of which may be empty.
void RunPhases(const KernelUnderTest& kernel, const HostCode& code, const std::vector<void*>& buffers,
               int64_t* dims) {
  constexpr int32_t kParts = 3;
  std::vector<std::byte> scratch(static_cast<size_t>(kernel.compiled.scratch_bytes) + 64, std::byte{0xFF});
  const auto base = reinterpret_cast<uintptr_t>(scratch.data());
  void* aligned = scratch.data() + (64 - base % 64) % 64;
  for (const KernelPhase& phase : kernel.compiled.phases) {
    const PhaseFunction function = code.Find(phase.symbol);
    ASSERT_NE(function, nullptr) << phase.symbol;
    const int32_t parts = phase.parallel ? kParts : 1;
    for (int32_t part = 0; part < parts; ++part) {
      ASSERT_EQ(function(buffers.data(), dims, aligned, part, parts), 0);
    }
  }
}

void SpreadMaximum(Tensor& magnitude) {
  double largest = 0;
  for (int64_t i = 0; i < magnitude.num_elements(); ++i) largest = std::max(largest, magnitude.ToDouble(i));
  for (int64_t i = 0; i < magnitude.num_elements(); ++i) magnitude.SetDouble(i, largest);
}

Comparison CompareOutput(const GroupUnderTest& group, const Strategy& strategy, const Tensor& expected,
                         const Tensor& actual) {
  const Node& first = *group.region->nodes().front();
  if (IsContraction(first.op()) && group.region->nodes().size() == 1 && IsFloat(expected.dtype())) {
    std::map<const Value*, Tensor> given = {{nullptr, Tensor()}};
    for (size_t i = 0; i < group.inputs.size(); ++i) given[group.region->inputs()[i].get()] = group.inputs[i];
    std::vector<Tensor> inputs;
    for (const Value* input : first.inputs()) inputs.push_back(given.at(input));
    auto magnitude = EvaluateMagnitude(first, inputs);
    EXPECT_TRUE(magnitude.ok()) << magnitude.status();
    if (strategy.spreads_rounding) SpreadMaximum(*magnitude);
    const double roundoff = expected.dtype() == DType::kF64 ? 0x1p-53 : 0x1p-24;
    // Transformed values and attention's weights may be rounded to the inputs' type before they are
    // multiplied.
    const bool rounds_factors = strategy.spreads_rounding || first.op() == Op::kAttention;
    if (rounds_factors && expected.dtype() == DType::kBF16)
      return Compare(expected, actual, ContractionBound{*magnitude, 1, 0x1p-9});
    return Compare(expected, actual, ContractionBound{*magnitude, 64, roundoff});
  }
  return Compare(expected, actual, OperatorTolerance(expected.dtype()));
}

void ExpectOutputs(const KernelUnderTest& kernel, const HostCode& code, const std::vector<Tensor>& expected) {
  const Graph& region = *kernel.group->region;
  std::map<std::string, std::vector<std::byte>> contents;
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    contents[InputName(i)] = ToMemory(kernel.group->inputs[i], region.inputs()[i]->type());
  }
  // The memory ends where the buffer does, so that a read beyond it is noticed; for inputs, it ends where
  // the kernel interface allows no more reads.
  constexpr size_t kReadAhead = 64;
  std::vector<std::unique_ptr<Guarded<std::byte>>> memory;
  std::vector<void*> buffers;
  std::map<std::string, std::byte*> places;
  for (const LoopNest::Param& param : kernel.nest.params) {
    const auto bytes = static_cast<size_t>(param.buffer->num_elements() * DTypeSize(param.buffer->dtype));
    std::vector<std::byte>& content = contents[param.buffer->name];
    content.resize(bytes + (param.role == BufferRole::kInput ? kReadAhead : 0), std::byte{0xFF});
    memory.push_back(std::make_unique<Guarded<std::byte>>(content));
    buffers.push_back(memory.back()->data());
    places[param.buffer->name] = memory.back()->data();
  }
  std::vector<int64_t> dims(8, -1);
  const std::vector<std::string> symbols = SymbolsOf(region);
  // Calls f(element of dims, size) for each dynamic dimension of `tensor`.
  const auto for_dynamic = [&](const TensorType& type, const Tensor& tensor, const auto& f) {
    for (size_t d = 0; d < type.dims.size(); ++d) {
      const auto slot = std::find(symbols.begin(), symbols.end(), type.dims[d].symbol);
      if (!type.dims[d].is_constant())
        f(dims[static_cast<size_t>(slot - symbols.begin())], tensor.shape()[d]);
    }
  };
  for (size_t i = 0; i < region.inputs().size(); ++i) {
    for_dynamic(region.inputs()[i]->type(), kernel.group->inputs[i],
                [](int64_t& slot, int64_t size) { slot = size; });
  }
  RunPhases(kernel, code, buffers, dims.data());
  for (size_t i = 0; i < expected.size(); ++i) {
    const TensorType& type = region.outputs()[i].value->type();
    for_dynamic(type, expected[i], [](int64_t slot, int64_t size) { EXPECT_EQ(slot, size); });
    const Tensor actual = FromMemory(places[OutputName(i)], type, expected[i].shape());
    const Comparison comparison = CompareOutput(*kernel.group, *kernel.strategy, expected[i], actual);
    EXPECT_TRUE(comparison.ok()) << "output " << i << ": " << comparison.ToString() << "\n"
                                 << Print(kernel.nest);
  }
}

// Kernels of several groups for one target, compiled one by one, linked and run together.
class KernelsUnderTest {
 public:
  explicit KernelsUnderTest(const Target& target) : target_(target) {}

  // Compiles the group by each strategy that applies, or by the given one alone.
  void Add(absl::StatusOr<GroupUnderTest> group, const std::string& strategy = "",
           const Config& config = {}) {
    ASSERT_TRUE(group.ok()) << group.status();
    groups_.push_back(std::make_unique<GroupUnderTest>(std::move(*group)));
    const GroupUnderTest& added = *groups_.back();
    const auto workload = AnalyzeGroup(*added.region, "group", SymbolsOf(*added.region));
    ASSERT_TRUE(workload.ok()) << workload.status();
    for (const Strategy& each : AllStrategies()) {
      if (!strategy.empty() && strategy != each.name) continue;
      if (!each.why_not(*workload, target_).empty()) continue;
      auto kernel =
          Compile(added, absl::StrCat("k", kernels_.size()), each,
                  strategy.empty() ? each.analytic_default(*workload, target_) : config, *workload, target_);
      EXPECT_TRUE(kernel.ok()) << each.name << ": " << kernel.status();
      if (kernel.ok()) kernels_.push_back(std::move(*kernel));
    }
  }

  void ExpectMatches() const {
    if (kernels_.empty()) return;
    std::vector<const std::string*> objects;
    for (const KernelUnderTest& kernel : kernels_) objects.push_back(&kernel.compiled.object);
    const auto linked = Link(objects);
    ASSERT_TRUE(linked.ok()) << linked.status();
    const auto code = HostCode::Map(*linked);
    ASSERT_TRUE(code.ok()) << code.status();
    for (const KernelUnderTest& kernel : kernels_) {
      SCOPED_TRACE(kernel.description);
      const auto expected = Interpreter().Run(*kernel.group->region, kernel.group->inputs);
      ASSERT_TRUE(expected.ok()) << expected.status();
      ExpectOutputs(kernel, *code, *expected);
    }
  }

 private:
  const Target& target_;
  std::vector<std::unique_ptr<GroupUnderTest>> groups_;
  std::vector<KernelUnderTest> kernels_;
};

}  // namespace

void ForTargets(const std::function<void(const Target&)>& check) {
  const auto host = HostTarget();
  ASSERT_TRUE(host.ok()) << host.status();
  check(*host);
  if (host->vector_bits > 256) check(*TargetByName("x86-64-v3"));
}

void ExpectKernelsMatch(const std::vector<OperatorCase>& cases, const Target& target) {
  SCOPED_TRACE(target.name);
  KernelsUnderTest kernels(target);
  for (const OperatorCase& test_case : cases) {
    SCOPED_TRACE(Describe(test_case));
    kernels.Add(MakeGroup(test_case), test_case.strategy, test_case.config);
  }
  kernels.ExpectMatches();
}

void ExpectKernelsMatch(const std::vector<OperatorCase>& cases) {
  ForTargets([&](const Target& target) { ExpectKernelsMatch(cases, target); });
}

void ExpectKernelsMatch(const std::vector<std::string>& groups, const Target& target) {
  SCOPED_TRACE(target.name);
  KernelsUnderTest kernels(target);
  for (const std::string& text : groups) kernels.Add(ParseGroup(text));
  kernels.ExpectMatches();
}

void ExpectKernelsMatch(const std::vector<std::string>& groups) {
  ForTargets([&](const Target& target) { ExpectKernelsMatch(groups, target); });
}

}  // namespace attune
