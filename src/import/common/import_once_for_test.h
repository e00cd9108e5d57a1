// For tests and fuzzers: imports a model that has just been parsed.
#ifndef ATTUNE_IMPORT_COMMON_IMPORT_ONCE_FOR_TEST_H_
#define ATTUNE_IMPORT_COMMON_IMPORT_ONCE_FOR_TEST_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "import/common/import_options.h"
#include "import/common/parsed_model.h"

namespace attune::importing {

inline absl::StatusOr<std::unique_ptr<Graph>> ImportOnce(
    const absl::StatusOr<std::unique_ptr<ParsedModel>>& model, const ImportOptions& options) {
  if (!model.ok()) return model.status();
  return (*model)->Import(options);
}

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_IMPORT_ONCE_FOR_TEST_H_
