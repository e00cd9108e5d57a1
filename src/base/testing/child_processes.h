// For tests that look at the processes of other processes.
#ifndef ATTUNE_BASE_TESTING_CHILD_PROCESSES_H_
#define ATTUNE_BASE_TESTING_CHILD_PROCESSES_H_

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

namespace attune::testing {

// The processes that a process has started and that have not been reaped; none if it has ended.
inline std::vector<pid_t> ChildrenOf(pid_t process) {
  std::vector<pid_t> children;
  std::error_code error;
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(tasks, error)) {
    std::ifstream file(thread.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

// The letter by which /proc has the state of a process; empty if there is none.
inline std::string StateOf(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return stat >> number >> name >> state ? state : "";
}

// Whether the process has ended. It may not be reaped: the process that adopts it may not do that.
inline bool HasEnded(pid_t process) {
  const std::string state = StateOf(process);
  return state.empty() || state == "Z";
}

// Whether a signal has stopped the process.
inline bool IsStopped(pid_t process) { return StateOf(process) == "T"; }

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_CHILD_PROCESSES_H_
