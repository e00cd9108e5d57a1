#include "programs/programs.h"

#include <cstdio>
#include <optional>

#include "api/tuning.h"
#include "base/out_of_memory.h"
#include "base/process/worker.h"
#include "cli/run_attune.h"
#include "library/build_id.h"

int attune_command_main(int argc, char** argv) { return attune::RunAttune(argc, argv); }

int attune_worker_main(int argc, char** argv) {
  attune::ExplainOutOfMemory("attune-worker");
  attune::SetBuildId(attune::kBuildId);
  if (const std::optional<int> status = attune::RunIfWorker(argc, argv)) return *status;
  std::fputs("attune-worker is started by Attune's library, and does nothing by itself.\n", stderr);
  return 2;
}
