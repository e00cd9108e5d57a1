// Runs each task in a process of its own, so that a crash or a run that takes too long is a result as well.
#ifndef ATTUNE_TESTS_ISOLATION_ISOLATION_H_
#define ATTUNE_TESTS_ISOLATION_ISOLATION_H_

#include <functional>
#include <map>
#include <string>

namespace attune {

struct IsolatedResult {
  std::string text;   // what the task gave
  std::string crash;  // or why it gave nothing: "signal 11", "no result after 60 seconds"
};

// By name. A task may do anything to its process.
using IsolatedTasks = std::map<std::string, std::function<std::string()>>;
using IsolatedResults = std::map<std::string, IsolatedResult>;

// Runs up to `jobs` tasks at a time. Each may use `seconds` of processor time, and wait as long without
// using any. A process that gets little time on a busy machine is not cut short, nor is one that is stopped
// together with this process. Call it before the process has threads: each child is a copy of it.
IsolatedResults RunIsolated(const IsolatedTasks& tasks, int jobs, int seconds);

}  // namespace attune

#endif  // ATTUNE_TESTS_ISOLATION_ISOLATION_H_
