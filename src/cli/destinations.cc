#include "cli/destinations.h"

#include <algorithm>

#include "base/output_file.h"

namespace attune {
namespace {

bool IsStdout(const std::string& file) { return file == "-" || SharesStdout(file); }

}  // namespace

CLI::Option* AddOutputFlag(CLI::App& command, const std::string& names, std::string& path,
                           const std::string& help) {
  return command.add_option(names, path, help + ", or - for stdout")->transform([](const std::string& given) {
    return given == "-" ? std::string("/dev/stdout") : given;
  });
}

bool LeaveStdout(std::initializer_list<std::string> files) { return std::ranges::none_of(files, IsStdout); }

void RequireOneStdout(std::initializer_list<std::string> files) {
  if (std::ranges::count_if(files, IsStdout) <= 1) return;
  throw CLI::ValidationError("two results cannot both go to stdout; name a file for one of them");
}

}  // namespace attune
