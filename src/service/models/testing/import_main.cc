// The test program can be run as its own worker: as the process of a job, and as one that imports models, of
// which some take it over.
#include <gtest/gtest.h>

#include "kinds/job_worker.h"
#include "service/models/hostile_models_for_test.h"
#include "service/models/import_worker.h"
#include "service/runner/elsewhere.h"

namespace {

// The importer, unless the file does as it likes.
attune::ImportAnswer Import(const attune::ImportRequest& request) {
  if (const auto answer = attune::CarryOut(request)) return *answer;
  return attune::ImportStrangersModel(request);
}

}  // namespace

int main(int argc, char** argv) {
  const attune::WorkerKind importer = attune::ImportWorker(Import);
  if (const auto status =
          attune::RunIfJobWorker(argc, argv, {&importer, 1}, attune::MeasureElsewhere, attune::MeasuringPort))
    return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
