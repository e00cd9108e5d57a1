// The test program can be run as its own worker, also as the process of a job.
#include <gtest/gtest.h>

#include "jobs/runner_worker.h"
#include "service/runner/elsewhere.h"

int main(int argc, char** argv) {
  if (const auto status =
          attune::RunIfJobWorker(argc, argv, {}, attune::MeasureElsewhere, attune::MeasuringPort))
    return *status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
