// The main() of test programs that can be run as their own workers.
#include <gtest/gtest.h>

#include "kinds/job_worker.h"

int main(int argc, char** argv) {
  if (const auto status = attune::RunIfJobWorker(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
