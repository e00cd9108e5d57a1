// A request to the compiler as data, and the passes, processors and chooser of kernels that follow from it.
// The command line, the C++ library, Python and jobs fill in the
// same request.
#ifndef ATTUNE_API_COMPILE_REQUEST_H_
#define ATTUNE_API_COMPILE_REQUEST_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/dtype.h"
#include "base/progress.h"
#include "measure/service.h"
#include "opt/pass_plan.h"
#include "options/settings.h"
#include "plan/chooser.h"
#include "target/target.h"

namespace attune {

// Without processors, the request is for the device; with 0 threads, one inference is to run on as many as
// the device has processors; and without a database, the user's own one chooses kernels, if it exists.
struct CompileRequest : CompileSettings {
  std::string passes_source;  // the name of the pass plan in errors, such as its file; empty: none
  // The device (api/target_device.h); null: this machine.
  std::shared_ptr<MeasuringService> service;
  int jobs = 0;  // threads that compile; 0: as many as this machine has processors
  WorkControl control;
  // Called with what a person should know although the work continues; may be empty.
  std::function<void(std::string_view)> note;

  bool is_quantized() const { return precision == Precision::kInt8 || precision == Precision::kAuto; }
  // Whether weights take fewer bytes in the artifact than in memory.
  bool compresses_weights() const { return compact || weights != DType::kF32; }
  // Whether the code is for this machine, so that it can be measured while the network is optimized.
  bool is_for_this_machine() const { return cpus.empty() && service == nullptr; }
};

// Fails for a precision that no processor's kernels compute in.
absl::Status CheckPrecision(Precision precision);

// The threads that one inference is to run on, at least 1.
int ThreadsOf(const CompileRequest& request);

// The plan with this text, or the default one, with what the precision, the type of weights and unchecked
// indices change in it. Fails if the text is wrong or lacks a pass that is needed.
absl::StatusOr<PassPlan> PassPlanOf(const CompileRequest& request);

// The processors to compile for, at least one. Fails if one of them lacks the instructions that the
// precision needs.
absl::StatusOr<std::vector<Target>> TargetsOf(const CompileRequest& request);
// The same for work that is for one processor; fails if the request names several.
absl::StatusOr<Target> TargetOf(const CompileRequest& request);

// Returns the chooser of kernels, or null if the strategies' cost models choose. Failing to read the user's
// own records, which the request does not name, is a note and not an error.
absl::StatusOr<std::shared_ptr<const KernelChooser>> ChooserOf(const CompileRequest& request);

}  // namespace attune

#endif  // ATTUNE_API_COMPILE_REQUEST_H_
