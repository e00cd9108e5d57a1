// How often the databases of this process have failed.
#ifndef ATTUNE_BASE_SQL_SQL_ERRORS_H_
#define ATTUNE_BASE_SQL_SQL_ERRORS_H_

#include <cstdint>

#include "absl/status/status.h"

namespace attune {

// Counts what a database answers, if the fault is its own: it cannot be reached, is damaged, full or
// read-only. Returns the same. Thread safe.
absl::Status CountedSqlError(absl::Status status);

// Since the process began.
int64_t NumSqlErrors();

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_SQL_ERRORS_H_
