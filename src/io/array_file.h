// Shared by the readers of files of numbers.
#ifndef ATTUNE_IO_ARRAY_FILE_H_
#define ATTUNE_IO_ARRAY_FILE_H_

#include <cstdint>

namespace attune {

// Larger files are refused instead of read: no network input that we know has a tenth of this size.
inline constexpr int64_t kMaxArrayFileBytes = int64_t{1} << 32;

}  // namespace attune

#endif  // ATTUNE_IO_ARRAY_FILE_H_
