// Numbers in the bytes of files.
#ifndef ATTUNE_IO_LITTLE_ENDIAN_H_
#define ATTUNE_IO_LITTLE_ENDIAN_H_

#include <cstddef>
#include <cstring>
#include <string_view>

namespace attune {

// Returns the number at the offset; `offset` + sizeof(T) must be inside `bytes`.
template <typename T>
T LoadLittleEndian(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace attune

#endif  // ATTUNE_IO_LITTLE_ENDIAN_H_
