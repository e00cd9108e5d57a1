// A request to the compiler as data, and the passes, processors and chooser of kernels that follow from it.
// The command line, the C++ library, Python and jobs fill in the
// same request.
#ifndef ATTUNE_API_COMPILE_REQUEST_H_
#define ATTUNE_API_COMPILE_REQUEST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/progress.h"
#include "measure/service.h"
#include "opt/pass_plan.h"
#include "plan/chooser.h"
#include "target/target.h"

namespace attune {

// The types that the layers of a network compute in. kInt8 and kAuto quantize the network, for which samples
// are needed; kAuto keeps layers that lose too much in more precise types.
enum class Precision : uint8_t { kF32, kBF16, kBF16x3, kF16, kInt8, kAuto };

// "fp32", "bf16", "bf16x3", "fp16", "int8", "auto".
std::vector<std::string> PrecisionNames();
std::optional<Precision> ParsePrecision(std::string_view name);

// The types that weights can be stored in: "fp32", "fp16", "bf16".
std::vector<std::string> WeightTypeNames();
std::optional<DType> ParseWeightType(std::string_view name);

struct CompileRequest {
  Precision precision = Precision::kF32;
  DType weights = DType::kF32;        // the type that weights are rounded to and stored in: f32, f16 or bf16
  bool compact = false;               // whether weights are compressed without loss
  bool unchecked_indices = false;     // whether indices out of range are clamped instead of refused
  std::optional<std::string> passes;  // the text of a pass plan; not set: the default plan
  std::string passes_source;          // the name of that text in errors, such as its file; empty: none
  // Names of the processors to compile for; empty: the device.
  std::vector<std::string> cpus;
  // The device (api/target_device.h); null: this machine.
  std::shared_ptr<MeasuringService> service;
  // The database that kernels are chosen by; "none": none; empty: the user's own, if it exists.
  std::string records;
  int threads = 0;  // that one inference is to run on; 0: as many as the device has processors
  int jobs = 0;     // threads that compile; 0: as many as this machine has processors
  // If not empty, an existing folder for the graph after each pass and for each kernel's code.
  std::string dump_folder;
  WorkControl control;
  // Called with what a person should know although the work continues; may be empty.
  std::function<void(std::string_view)> note;

  bool is_quantized() const { return precision == Precision::kInt8 || precision == Precision::kAuto; }
  // Whether weights take fewer bytes in the artifact than in memory.
  bool compresses_weights() const { return compact || weights != DType::kF32; }
  // Whether the code is for this machine, so that it can be measured while the network is optimized.
  bool is_for_this_machine() const { return cpus.empty() && service == nullptr; }
};

// Fails with NS for a precision that no processor's kernels compute in.
absl::Status CheckPrecision(Precision precision);

// The threads that one inference is to run on, at least 1.
int ThreadsOf(const CompileRequest& request);

// The plan with this text, or the default one, with what the precision, the type of weights and unchecked
// indices change in it. Fails if the text is wrong or lacks a pass that is needed.
absl::StatusOr<PassPlan> PassPlanOf(const CompileRequest& request);

// The processors to compile for, at least one. Fails with NS if one of them lacks the instructions that the
// precision needs.
absl::StatusOr<std::vector<Target>> TargetsOf(const CompileRequest& request);
// The same for work that is for one processor; fails if the request names several.
absl::StatusOr<Target> TargetOf(const CompileRequest& request);

// Returns the chooser of kernels, or null if the strategies' cost models choose. Failing to read the user's
// own records, which the request does not name, is a note and not an error.
absl::StatusOr<std::shared_ptr<const KernelChooser>> ChooserOf(const CompileRequest& request);

}  // namespace attune

#endif  // ATTUNE_API_COMPILE_REQUEST_H_
