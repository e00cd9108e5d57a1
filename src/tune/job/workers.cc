#include "tune/job/workers.h"

#include <array>

#include "base/process/worker.h"
#include "measure/measure_worker.h"
#include "tune/task/build_worker.h"

namespace attune {

std::optional<int> RunIfWorker(int argc, char** argv, const BuildHooks& hooks) {
  const std::array<WorkerKind, 2> kinds = {
      {{kBuilderKind, [&] { return RunBuildWorker(hooks); }}, {kMeasureWorkerKind, RunMeasureWorker}}};
  return RunIfWorker(argc, argv, kinds);
}

}  // namespace attune
