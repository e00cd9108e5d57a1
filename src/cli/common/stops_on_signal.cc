#include "cli/common/stops_on_signal.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <tuple>

namespace attune {
namespace {

struct Stop {
  void (*stop)(void* target) = nullptr;
  void* target = nullptr;
  const char* text = "";
};

Stop current;
std::atomic<bool> is_set = false;

void HandleSignal(int /*signal*/) {
  if (!is_set.exchange(false)) return;
  const int error = errno;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  current.stop(current.target);
  std::ignore = write(STDERR_FILENO, current.text, std::strlen(current.text));
  errno = error;
}

}  // namespace

StopsOnSignal::StopsOnSignal(void (*stop)(void* target), void* target, const char* text) {
  current = {stop, target, text};
  is_set = true;
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

StopsOnSignal::~StopsOnSignal() {
  is_set = false;
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

}  // namespace attune
