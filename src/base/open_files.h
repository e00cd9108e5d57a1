// How many files and connections the process may have open.
#ifndef ATTUNE_BASE_OPEN_FILES_H_
#define ATTUNE_BASE_OPEN_FILES_H_

#include <cstdint>

namespace attune {

// Raises the limit as far as the system lets this process. Returns the limit that holds then.
int64_t RaiseOpenFiles();

}  // namespace attune

#endif  // ATTUNE_BASE_OPEN_FILES_H_
