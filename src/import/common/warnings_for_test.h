// The lines that code under test logs.
#ifndef ATTUNE_IMPORT_COMMON_WARNINGS_FOR_TEST_H_
#define ATTUNE_IMPORT_COMMON_WARNINGS_FOR_TEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace attune::importing {

// The lines that `code` logs on this thread.
template <typename Code>
std::vector<std::string> WarningsOf(const Code& code) {
  thread_local std::vector<std::string> lines;
  lines.clear();
  const LogSink before = SetLogSink([](LogLevel, std::string_view line) { lines.emplace_back(line); });
  code();
  SetLogSink(before);
  return lines;
}

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_WARNINGS_FOR_TEST_H_
