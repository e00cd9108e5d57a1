#include "cli/stops_on_signal.h"

#include <unistd.h>

#include <atomic>
#include <cstring>

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
  if (!is_set.load()) return;
  current.stop(current.target);
  if (write(STDERR_FILENO, current.text, std::strlen(current.text)) < 0) return;  // nobody reads it
}

}  // namespace

StopsOnSignal::StopsOnSignal(void (*stop)(void* target), void* target, const char* text) {
  current = {stop, target, text};
  is_set = true;
  struct sigaction action = {};
  action.sa_handler = HandleSignal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt_);
  sigaction(SIGTERM, &action, &old_terminate_);
}

StopsOnSignal::~StopsOnSignal() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
  is_set = false;
}

}  // namespace attune
