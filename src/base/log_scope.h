// Adds a key and its value to all messages that a thread logs while it does one thing, such as to answer a
// request.
#ifndef ATTUNE_BASE_LOG_SCOPE_H_
#define ATTUNE_BASE_LOG_SCOPE_H_

#include <string>
#include <string_view>

namespace attune {

// While it lives, each message of this thread ends with " key=value". The latest one of a thread counts.
class LogScope {
 public:
  // The key is a constant.
  LogScope(std::string_view key, std::string_view value);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  const std::string before_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_LOG_SCOPE_H_
