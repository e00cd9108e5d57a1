// The program attune-worker: runs what the library wants to have run in a process of its own.
#include "base/process/worker.h"

#include <cstdio>
#include <optional>

#include "api/tuning.h"
#include "base/out_of_memory.h"
#include "library/build_id.h"

int main(int argc, char** argv) {
  attune::ExplainOutOfMemory("attune-worker");
  attune::SetBuildId(attune::kBuildId);
  if (const std::optional<int> status = attune::RunIfWorker(argc, argv)) return *status;
  std::fputs("attune-worker is started by Attune's library, and does nothing by itself.\n", stderr);
  return 2;
}
