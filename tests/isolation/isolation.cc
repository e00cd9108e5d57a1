#include "isolation/isolation.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// The time between two checks of what children have used. At most twice this is charged to them: a longer
// pause is not theirs.
constexpr Seconds kTick(1);
// Less processor time than this counts as none: a process uses that much to wake up and wait again.
constexpr Seconds kWork(0.001);

// A process that writes its result to a pipe and ends.
struct Child {
  std::string name;
  pid_t process = 0;
  int pipe = -1;
  std::string text;   // what has been read so far
  Seconds worked{0};  // processor time
  Seconds waited{0};  // since it last used some
};

constexpr char kDone = '\n';  // precedes the text, since an empty text is a result too

[[noreturn]] void ReportAndExit(int file, const std::string& result) {
  const std::string text = absl::StrCat(std::string(1, kDone), result);
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0) _exit(1);
    done += static_cast<size_t>(count);
  }
  _exit(0);
}

Seconds ProcessorTimeOf(pid_t process) {
  clockid_t clock;
  timespec time = {};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return Seconds(0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

IsolatedResult Crash(std::string why) { return {"", std::move(why)}; }

// Ends the child if it still runs, and returns its result.
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
    children_.push_back({name, process, ends[0], ""});
  }

  // Reads what children have written, and reaps those that have ended or have run out of time.
  void Wait() {
    std::vector<pollfd> waiting;
    for (const Child& child : children_) waiting.push_back({child.pipe, POLLIN, 0});
    poll(waiting.data(), waiting.size(), static_cast<int>(kTick / std::chrono::milliseconds(1)));
    const Clock::time_point now = Clock::now();
    const Seconds passed = std::min<Seconds>(now - last_look_, 2 * kTick);
    last_look_ = now;
    auto child = children_.begin();
    for (const pollfd& ready : waiting) {
      const bool ended = ready.revents != 0 && !ReadSome(*child);
      const bool timed_out = !ended && !HasTimeLeft(*child, passed);
      if (ended || timed_out) results_[child->name] = Reap(*child, timed_out, seconds_);
      child = ended || timed_out ? children_.erase(child) : std::next(child);
    }
  }

  bool HasTimeLeft(Child& child, Seconds passed) const {
    const Seconds worked = ProcessorTimeOf(child.process);
    child.waited = worked - child.worked > kWork ? Seconds(0) : child.waited + passed;
    child.worked = std::max(child.worked, worked);
    return std::max(child.worked, child.waited) < Seconds(seconds_);
  }

  // Returns false at the end of the child's output.
  static bool ReadSome(Child& child) {
    char buffer[4096];
    const ssize_t count = read(child.pipe, buffer, sizeof(buffer));
    if (count > 0) child.text.append(buffer, static_cast<size_t>(count));
    return count > 0;
  }

  const size_t jobs_;
  const int seconds_;
  Clock::time_point last_look_ = Clock::now();
  std::list<Child> children_;
  IsolatedResults results_;
};

}  // namespace

IsolatedResults RunIsolated(const IsolatedTasks& tasks, int jobs, int seconds) {
  return Runner(jobs, seconds).Run(tasks);
}

}  // namespace attune
