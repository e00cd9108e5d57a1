// Messages to the people who operate a program: what it starts, waits for and ends, one line each on
// standard error.
//
//     Log(LogLevel::kDebug, "worker started", "kind", kind, "pid", pid);
//     attune: 2026-11-29T12:03:59.250+01:00 debug: worker started kind=measure pid=4711
//
// The text of a message is constant, so that one can search for it; what differs from case to case follows
// as keys and values. Results and errors are not for the log: functions return them.
//
// Until SetLogLevel is called, only warnings and errors are logged. A message that is not logged costs a
// comparison and the computation of its values.
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

// From now on, messages of this level and of the more severe ones are logged. If that includes levels below
// warnings, each line starts with the time: the date, the local time and how far that is from UTC.
void SetLogLevel(LogLevel least);

// Called with each line, "worker started kind=measure pid=4711", possibly by several threads at once.
using LogSink = void (*)(LogLevel level, std::string_view line);
// From now on, lines go to this sink, or to standard error if it is null (as it is at first). Returns the
// previous sink.
LogSink SetLogSink(LogSink sink);

namespace log_internal {
extern std::atomic<LogLevel> least_level;
void Write(LogLevel level, std::string_view message, std::initializer_list<std::string> keys_and_values);
}  // namespace log_internal

inline bool IsLogged(LogLevel level) {
  return level >= log_internal::least_level.load(std::memory_order_relaxed);
}

// `keys_and_values` alternate; a value is anything that absl::StrCat takes. Values with spaces, quotes or
// control characters are quoted and escaped, so that a message is always one line, wherever its values come
// from. Thread safe. Must not be called in a child between fork and exec: another thread may have held the
// log's lock.
template <typename... KeysAndValues>
void Log(LogLevel level, std::string_view message, const KeysAndValues&... keys_and_values) {
  static_assert(sizeof...(keys_and_values) % 2 == 0, "each key has a value");
  if (IsLogged(level)) log_internal::Write(level, message, {absl::StrCat(keys_and_values)...});
}

}  // namespace attune

#endif  // ATTUNE_BASE_LOG_H_
