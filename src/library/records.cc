// What programs do with records of tuning.
#include "api/records.h"

#include "library/convert.h"

namespace attune::compiler {

int64_t copy_records(const std::string& from, const std::string& to, const RecordSelection& which) {
  NameFace();
  return Value(CopyRecords(from, to, {.run = which.run}, which.is_best_only));
}

}  // namespace attune::compiler
