// Judges divisions of bytes that round down.
#ifndef ATTUNE_IMPORT_COMMON_FLOOR_DIVISIONS_FOR_TEST_H_
#define ATTUNE_IMPORT_COMMON_FLOOR_DIVISIONS_FOR_TEST_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace attune::importing {

// All signed bytes, the least first.
inline std::vector<int64_t> AllBytes() {
  std::vector<int64_t> bytes;
  for (int64_t byte = -128; byte < 128; ++byte) bytes.push_back(byte);
  return bytes;
}

// Returns those of the quotients of all bytes, a row each, by all bytes that are wrong, such as "-128 // 3".
// Divisions by 0, and of -128 by -1, may give anything.
inline std::vector<std::string> WrongFloorDivisions(const std::vector<double>& quotients) {
  std::vector<std::string> wrong;
  size_t at = 0;
  for (const int64_t a : AllBytes()) {
    for (const int64_t b : AllBytes()) {
      const double quotient = std::floor(static_cast<double>(a) / static_cast<double>(b));
      const bool is_defined = b != 0 && quotient != 128;
      if (const double got = quotients.at(at++); is_defined && got != quotient)
        wrong.push_back(std::to_string(a) + " // " + std::to_string(b));
    }
  }
  return wrong;
}

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_FLOOR_DIVISIONS_FOR_TEST_H_
