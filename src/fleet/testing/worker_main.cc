// The test program can be run as its own worker.
#include <gtest/gtest.h>

#include <array>

#include "base/process/worker.h"
#include "fleet/host/device_host_worker.h"
#include "measure/measure_worker.h"

int main(int argc, char** argv) {
  const std::array<attune::WorkerKind, 2> kinds = {
      {{.name = attune::kMeasureWorkerKind, .run = attune::RunMeasureWorker}, attune::DeviceHostWorker()}};
  if (const auto status = attune::RunIfWorker(argc, argv, kinds)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
