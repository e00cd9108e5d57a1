#include "process/setup/log_file.h"

#include <filesystem>
#include <system_error>

namespace attune {

void TurnLog(const std::string& path, uintmax_t most_bytes) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const uintmax_t bytes = fs::file_size(path, error); error || bytes <= most_bytes) return;
  const std::string old = path + ".old", copy = old + ".new";
  fs::copy_file(path, copy, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(copy, old, error);
  if (!error) fs::resize_file(path, 0, error);
  if (error) fs::remove(copy, error);
}

}  // namespace attune
