// Ends long work on Ctrl-C.
#ifndef ATTUNE_CLI_COMMON_STOPS_ON_SIGNAL_H_
#define ATTUNE_CLI_COMMON_STOPS_ON_SIGNAL_H_

#include <csignal>

namespace attune {

// During its lifetime, the first SIGINT or SIGTERM calls `stop` and prints `text`; a second one ends the
// program. One at a time.
class StopsOnSignal {
 public:
  // `stop` must be safe in a signal handler; `target` is its argument. Both, and `text`, must outlive this
  // object.
  StopsOnSignal(void (*stop)(void* target), void* target, const char* text);
  ~StopsOnSignal();
  StopsOnSignal(const StopsOnSignal&) = delete;
  StopsOnSignal& operator=(const StopsOnSignal&) = delete;

 private:
  struct sigaction old_interrupt_ = {}, old_terminate_ = {};
};

}  // namespace attune

#endif  // ATTUNE_CLI_COMMON_STOPS_ON_SIGNAL_H_
