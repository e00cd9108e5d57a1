#include "base/process/sibling_program.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "absl/strings/str_split.h"

namespace attune {

std::string SiblingProgram(const std::string& name) {
  std::vector<std::filesystem::path> folders;
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back(own.parent_path());
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty()))
    folders.emplace_back(folder);
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path program = folder / name;
    if (std::filesystem::is_regular_file(program, error) && access(program.c_str(), X_OK) == 0)
      return std::filesystem::absolute(program).string();
  }
  return "";
}

std::string FileOfThisCode() {
  static const char here = 0;
  Dl_info info = {};
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  return std::filesystem::absolute(info.dli_fname, error).string();
}

}  // namespace attune
