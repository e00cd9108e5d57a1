// Messages to those who operate a program: what it starts, waits for and ends, a line each on standard error.
//
//     Log(LogLevel::kDebug, "worker started", "kind", kind, "pid", pid);
//     attune: 12:03:59.250 debug: worker started kind=measure pid=4711
//
// A message says in constant words what happens, so that one can search for it; what differs comes after it
// as keys and values. Results and errors are not for the log: functions return them.
//
// The log says warnings and errors, and nothing else, until SetLogLevel. What is not logged costs a
// comparison, and that its values are computed.
#ifndef ATTUNE_BASE_LOG_H_
#define ATTUNE_BASE_LOG_H_

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace attune {

enum class LogLevel : uint8_t { kTrace, kDebug, kInfo, kWarning, kError, kOff };

// "trace", "debug", "info", "warning", "error" or "off". The error lists them.
absl::StatusOr<LogLevel> LogLevelNamed(std::string_view name);

// From now on, messages of this level and of those after it are logged. Where those are more than warnings,
// each line has the time of day.
void SetLogLevel(LogLevel least);

// Is called with each line, "worker started kind=measure pid=4711", maybe by several threads at once.
using LogSink = void (*)(LogLevel level, std::string_view line);
// From now on, lines go there, or to standard error where it is null, as it is at first. Returns the previous
// one.
LogSink SetLogSink(LogSink sink);

namespace log_internal {
extern std::atomic<LogLevel> least_level;
void Write(LogLevel level, std::string_view message, std::initializer_list<std::string> keys_and_values);
}  // namespace log_internal

inline bool IsLogged(LogLevel level) {
  return level >= log_internal::least_level.load(std::memory_order_relaxed);
}

// `keys_and_values` alternate; a value is anything that absl::StrCat takes. Values with spaces, quotes or
// control characters are quoted and escaped, so that whatever they come from, a message is one line. Thread
// safe. Not for a child between fork and exec: another thread may have held the log's lock.
template <typename... KeysAndValues>
void Log(LogLevel level, std::string_view message, const KeysAndValues&... keys_and_values) {
  static_assert(sizeof...(keys_and_values) % 2 == 0, "each key has a value");
  if (IsLogged(level)) log_internal::Write(level, message, {absl::StrCat(keys_and_values)...});
}

}  // namespace attune

#endif  // ATTUNE_BASE_LOG_H_
