// Lets any thread ask the one thread that owns some state.
//
// Problem: a loop owns its state and must not wait, others ask at any time, and the state goes whenever its
// store fails. Idea: each question is a task in a queue (an actor's mailbox: Hewitt et al., A universal
// modular actor formalism, 1973), which the loop empties between two of its steps. While there is no state,
// tasks are refused with the reason, and questions that only read are answered by the thread that asks, from
// a view of the data at rest. Price: an answer takes as long as a step of the loop.
#ifndef ATTUNE_SERVICE_QUEUE_TASK_QUEUE_H_
#define ATTUNE_SERVICE_QUEUE_TASK_QUEUE_H_

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// `State` has a function view() that returns a const View&. Thread safe; the owner's thread must not ask.
template <typename State, typename View>
class TaskQueue {
 public:
  // Gets the state, or the reason why there is none.
  using Task = std::function<void(const absl::StatusOr<State*>& state)>;

  // `wake` makes the owner call Run() soon. It is called by those who ask, without a lock.
  explicit TaskQueue(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Hands a task to the owner, and does not wait for it. Fails if the task would be refused.
  absl::Status Post(Task task) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!refusal_.ok()) return refusal_;
      tasks_.push_back(std::move(task));
    }
    wake_();
    return absl::OkStatus();
  }

  // Has the owner answer a question: a function of State& that returns an absl::StatusOr.
  template <typename Question>
  auto Ask(const Question& question) -> std::invoke_result_t<const Question&, State&> {
    using Answer = std::invoke_result_t<const Question&, State&>;
    std::promise<Answer> promise;
    const absl::Status posted = Post([&](const absl::StatusOr<State*>& state) {
      promise.set_value(state.ok() ? question(**state) : Answer(state.status()));
    });
    if (!posted.ok()) return posted;
    return promise.get_future().get();
  }

  // The same for a function of const View& that changes nothing: without a state, it gets the view at rest.
  template <typename Question>
  auto Read(const Question& question) -> std::invoke_result_t<const Question&, const View&> {
    auto answer = Ask([&](State& state) { return question(state.view()); });
    if (!absl::IsUnavailable(answer.status())) return answer;
    std::shared_ptr<const View> resting;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      resting = resting_;
    }
    if (resting != nullptr) return question(*resting);
    return answer;
  }

  // For the owner: tasks wait from now on. So they do at first.
  void Open() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_closed_) return;
    refusal_ = absl::OkStatus();
    resting_ = nullptr;
  }
  // For the owner: runs the tasks that wait.
  void Run(State& state) { RunAll(&state); }
  // For the owner: refuses all tasks until Open(), also those that wait. `why` must be an Unavailable.
  // `resting`: answers those who read meanwhile; null: nothing does.
  void Refuse(const absl::Status& why, std::shared_ptr<const View> resting = nullptr) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!is_closed_) {
        refusal_ = why;
        resting_ = std::move(resting);
      }
    }
    RunAll(why);
  }
  // Refuses all tasks that come from now on, for good, and wakes the owner, who still has those that wait.
  // `why` as above.
  void Close(const absl::Status& why) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_closed_ = true;
      refusal_ = why;
      resting_ = nullptr;
    }
    wake_();
  }

  // Whether tasks are taken.
  bool is_open() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return refusal_.ok();
  }
  bool is_closed() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return is_closed_;
  }

 private:
  void RunAll(const absl::StatusOr<State*>& state) {
    std::vector<Task> tasks;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const Task& task : tasks) task(state);
  }

  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  bool is_closed_ = false;
  absl::Status refusal_;                 // OK: tasks are taken
  std::shared_ptr<const View> resting_;  // while they are not
  std::vector<Task> tasks_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_TASK_QUEUE_H_
