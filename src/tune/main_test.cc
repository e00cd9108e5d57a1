// The test program can be run as its own worker, whose builds can be made to fail.
#include <gtest/gtest.h>

#include "tune/job/workers.h"
#include "tune/task/faults_for_test.h"

int main(int argc, char** argv) {
  if (const auto status = attune::RunIfWorker(argc, argv, attune::HooksOfTest())) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
