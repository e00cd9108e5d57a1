// Plans for one target and their code, as they stand in an artifact.
#ifndef ATTUNE_COMPILE_VARIANT_H_
#define ATTUNE_COMPILE_VARIANT_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/artifact.h"
#include "base/progress.h"
#include "codegen/codegen.h"
#include "compile/weights.h"
#include "plan/program.h"
#include "target/target.h"

namespace attune {

// A network at one set of input shapes, for the variant's target.
struct PlannedProgram {
  std::unique_ptr<Graph> graph;  // of groups, arranged
  NetworkPlan plan;
  std::vector<size_t> kernels;  // the index among the variant's kernels, by that of the plan
};

// The kernels of one target and the programs that call them. Kernels that are the same in several programs
// are one.
class VariantBuilder {
 public:
  explicit VariantBuilder(Target target) : target_(std::move(target)) {}

  void Add(std::unique_ptr<Graph> graph, NetworkPlan plan);
  const std::vector<PlannedProgram>& programs() const { return programs_; }

  // Generates the code of the kernels and of the prepackings. `keep_text` is CodegenOptions::keep_text.
  absl::Status Compile(std::vector<LoopNest> prepackings, bool keep_text, int threads,
                       const WorkControl& control);
  // After Compile().
  std::vector<const std::string*> Objects() const;
  absl::Status Dump(const std::string& folder) const;
  int num_kernels() const { return static_cast<int>(kernels_.size()); }
  int CountBy(ChosenBy by) const;
  // The digests of the records that kernels were chosen by.
  std::set<std::string> Records() const;
  // How many kernels have code that is not the code that was measured.
  int CountChanged() const;

  // `weights` are those of PlaceWeights(), `locations` by program and storage.
  Variant Describe(const LinkedCode& code, const PlacedWeights::OfVariant& weights,
                   const std::vector<std::vector<PlacedWeights::Location>>& locations) const;

 private:
  struct Kernel {
    const PlannedKernel* planned;
    LoopNest nest;  // with a name of its own
    CompiledKernel compiled;
  };
  struct PrepackingKernel {
    LoopNest nest;
    CompiledKernel compiled;
  };

  size_t IndexOf(const PlannedKernel& kernel);
  void DescribeKernels(const LinkedCode& code, Variant& variant) const;

  Target target_;
  std::vector<PlannedProgram> programs_;
  std::vector<Kernel> kernels_;
  std::vector<PrepackingKernel> prepackings_;
  std::map<std::string, size_t> by_text_;
  std::set<std::string> names_;
};

}  // namespace attune

#endif  // ATTUNE_COMPILE_VARIANT_H_
