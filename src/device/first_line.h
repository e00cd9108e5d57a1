// Reads the small files in which the system states facts.
#ifndef ATTUNE_DEVICE_FIRST_LINE_H_
#define ATTUNE_DEVICE_FIRST_LINE_H_

#include <filesystem>
#include <fstream>
#include <string>

namespace attune {

// Returns the first line of a file; empty if it cannot be read.
inline std::string FirstLine(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace attune

#endif  // ATTUNE_DEVICE_FIRST_LINE_H_
