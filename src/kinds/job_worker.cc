#include "kinds/job_worker.h"

#include <vector>

#include "kinds/kinds.h"
#include "tune/job/workers.h"

namespace attune {

std::optional<int> RunIfJobWorker(int argc, char** argv, std::span<const WorkerKind> more,
                                  const ServiceElsewhere& elsewhere, const PortElsewhere& port) {
  std::vector<WorkerKind> workers = {RunnerWorker(AllJobKinds(), elsewhere, port)};
  workers.insert(workers.end(), more.begin(), more.end());
  return RunIfWorker(argc, argv, {}, workers);
}

}  // namespace attune
