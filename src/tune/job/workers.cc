#include "tune/job/workers.h"

#include <vector>

#include "measure/measure_worker.h"
#include "tune/task/build_worker.h"

namespace attune {

std::optional<int> RunIfWorker(int argc, char** argv, const BuildHooks& hooks,
                               std::span<const WorkerKind> more) {
  std::vector<WorkerKind> kinds = {{.name = kBuilderKind, .run = [&] { return RunBuildWorker(hooks); }},
                                   {.name = kMeasureWorkerKind, .run = RunMeasureWorker}};
  kinds.insert(kinds.end(), more.begin(), more.end());
  return RunIfWorker(argc, argv, kinds);
}

}  // namespace attune
