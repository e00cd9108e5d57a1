// The test program can be run as its own worker.
#include <gtest/gtest.h>

#include "jobs/runner_worker.h"

int main(int argc, char** argv) {
  if (const auto status = attune::RunIfJobWorker(argc, argv)) return *status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
