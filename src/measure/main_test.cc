// The test program can be run as its own worker.
#include <gtest/gtest.h>

#include <array>

#include "base/process/worker.h"
#include "measure/measure_worker.h"

int main(int argc, char** argv) {
  const std::array<attune::WorkerKind, 1> kinds = {{{attune::kMeasureWorkerKind, attune::RunMeasureWorker}}};
  if (const auto status = attune::RunIfWorker(argc, argv, kinds)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
