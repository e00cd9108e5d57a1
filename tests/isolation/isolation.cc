#include "isolation/isolation.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;

// A process that writes its result to a pipe and ends.
struct Child {
  std::string name;
  pid_t process = 0;
  int pipe = -1;
  std::string text;  // what has been read so far
  Clock::time_point deadline;
};

constexpr char kDone = '\n';  // comes before the text: an empty one is a result, too

[[noreturn]] void ReportAndExit(int file, const std::string& result) {
  const std::string text = absl::StrCat(std::string(1, kDone), result);
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0) _exit(1);
    done += static_cast<size_t>(count);
  }
  _exit(0);
}

IsolatedResult Crash(std::string why) { return {"", std::move(why)}; }

// Ends the child where it runs still, and tells its result.
IsolatedResult Reap(const Child& child, bool timed_out, int seconds) {
  close(child.pipe);
  if (timed_out) kill(child.process, SIGKILL);
  int status = 0;
  waitpid(child.process, &status, 0);
  if (timed_out) return Crash(absl::StrCat("no result after ", seconds, " seconds"));
  if (WIFSIGNALED(status)) return Crash(absl::StrCat("signal ", WTERMSIG(status)));
  if (child.text.empty()) return Crash("it ended without a result");
  return {child.text.substr(1), ""};
}

class Runner {
 public:
  Runner(int jobs, int seconds) : jobs_(static_cast<size_t>(jobs)), seconds_(seconds) {}

  IsolatedResults Run(const IsolatedTasks& tasks) {
    for (const auto& [name, task] : tasks) {
      while (children_.size() == jobs_) Wait();
      Start(name, task);
    }
    while (!children_.empty()) Wait();
    return std::move(results_);
  }

 private:
  void Start(const std::string& name, const std::function<std::string()>& task) {
    int ends[2];
    if (pipe(ends) != 0) {
      results_[name] = Crash("no pipe");
      return;
    }
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      ReportAndExit(ends[1], task());
    }
    close(ends[1]);
    if (process < 0) {
      close(ends[0]);
      results_[name] = Crash("no process");
      return;
    }
    children_.push_back({name, process, ends[0], "", Clock::now() + std::chrono::seconds(seconds_)});
  }

  // Reads what children have written until one may have ended or its time is over.
  void Wait() {
    Clock::time_point deadline = Clock::time_point::max();
    std::vector<pollfd> waiting;
    for (const Child& child : children_) {
      waiting.push_back({child.pipe, POLLIN, 0});
      deadline = std::min(deadline, child.deadline);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    poll(waiting.data(), waiting.size(), std::max(0, static_cast<int>(left.count())));
    auto child = children_.begin();
    for (const pollfd& ready : waiting) {
      const bool ended = ready.revents != 0 && !ReadSome(*child);
      const bool timed_out = !ended && Clock::now() >= child->deadline;
      if (ended || timed_out) results_[child->name] = Reap(*child, timed_out, seconds_);
      child = ended || timed_out ? children_.erase(child) : std::next(child);
    }
  }

  // False at the end of what the child writes.
  static bool ReadSome(Child& child) {
    char buffer[4096];
    const ssize_t count = read(child.pipe, buffer, sizeof(buffer));
    if (count > 0) child.text.append(buffer, static_cast<size_t>(count));
    return count > 0;
  }

  const size_t jobs_;
  const int seconds_;
  std::list<Child> children_;
  IsolatedResults results_;
};

}  // namespace

IsolatedResults RunIsolated(const IsolatedTasks& tasks, int jobs, int seconds) {
  return Runner(jobs, seconds).Run(tasks);
}

}  // namespace attune
