#include "plan/chooser.h"

namespace attune {
namespace {

class Analytic final : public KernelChooser {
 public:
  absl::StatusOr<KernelChoice> Choose(const Workload& workload, const std::string&,
                                      const Target& target) const override {
    return ChooseAnalytically(workload, target);
  }
  double SecondsOf(const std::string&) const override { return 0; }
};

}  // namespace

const KernelChooser& AnalyticChooser() {
  static const Analytic chooser;
  return chooser;
}

}  // namespace attune
