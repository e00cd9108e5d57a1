#include "base/log.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_join.h"
#include "base/log_scope.h"
#include "base/status.h"
#include "spdlog/logger.h"
#include "spdlog/sinks/stdout_sinks.h"

namespace attune {

namespace log_internal {
std::atomic<LogLevel> least_level = LogLevel::kWarning;
}  // namespace log_internal

namespace {

std::atomic<LogSink> log_sink = nullptr;

constexpr std::array<std::string_view, 6> kNames = {"trace", "debug", "info", "warning", "error", "off"};
constexpr std::array kLevels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};

constexpr char kShort[] = "attune: %l: %v", kWithTime[] = "attune: %Y-%m-%dT%H:%M:%S.%e%z %l: %v";

spdlog::logger& StandardError() {
  // Never destroyed, so that code can log while the program ends.
  static auto& logger = *[] {
    auto* made = new spdlog::logger("attune", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::trace);
    made->set_pattern(kShort);
    return made;
  }();
  return logger;
}

// Leaves the value as it is if it cannot be mistaken for anything else.
std::string Quoted(const std::string& value) {
  const auto is_plain = [](unsigned char c) {
    return c > ' ' && c != '"' && c != '\\' && c != '=' && c != 0x7F;
  };
  if (!value.empty() && std::ranges::all_of(value, is_plain)) return value;
  return absl::StrCat("\"", absl::Utf8SafeCEscape(value), "\"");
}

}  // namespace

absl::StatusOr<LogLevel> LogLevelNamed(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found != kNames.end()) return static_cast<LogLevel>(std::distance(kNames.begin(), found));
  return InvalidInput("'", name, "' is not a level of the log, which are ", absl::StrJoin(kNames, ", "));
}

void SetLogLevel(LogLevel least) {
  StandardError().set_pattern(least < LogLevel::kWarning ? kWithTime : kShort);
  log_internal::least_level = least;
}

LogSink SetLogSink(LogSink sink) { return log_sink.exchange(sink); }

namespace {
thread_local std::string scope_text;  // " key=value"
}  // namespace

LogScope::LogScope(std::string_view key, std::string_view value)
    : before_(std::exchange(scope_text, absl::StrCat(" ", key, "=", Quoted(std::string(value))))) {}
LogScope::~LogScope() { scope_text = before_; }

void log_internal::Write(LogLevel level, std::string_view message,
                         std::initializer_list<std::string> keys_and_values) {
  std::string line(message);
  for (const std::string* key = keys_and_values.begin(); key != keys_and_values.end(); key += 2)
    absl::StrAppend(&line, " ", *key, "=", Quoted(*(key + 1)));
  line += scope_text;
  if (const LogSink sink = log_sink.load()) return sink(level, line);
  StandardError().log(kLevels[static_cast<size_t>(level)], spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace attune
