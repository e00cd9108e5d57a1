#include "service/queue/task_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace attune {
namespace {

using ::testing::ElementsAre;

struct Shelf {
  std::vector<std::string> books;
};
struct Library {
  const Shelf& view() const { return shelf; }
  Shelf shelf;
};

class TaskQueueTest : public ::testing::Test {
 protected:
  absl::StatusOr<int> Count() {
    return queue_.Read(
        [](const Shelf& shelf) -> absl::StatusOr<int> { return static_cast<int>(shelf.books.size()); });
  }
  absl::StatusOr<int> Add(const std::string& book) {
    return queue_.Ask([&](Library& library) -> absl::StatusOr<int> {
      library.shelf.books.push_back(book);
      return static_cast<int>(library.shelf.books.size());
    });
  }

  std::optional<Library> library_ = Library();
  // The thread that asks is the owner.
  TaskQueue<Library, Shelf> queue_{[this] {
    if (library_.has_value()) queue_.Run(*library_);
  }};
};

TEST_F(TaskQueueTest, TheOwnerAnswers) {
  EXPECT_TRUE(queue_.is_open());
  EXPECT_EQ(*Add("one"), 1);
  EXPECT_EQ(*Add("two"), 2);
  EXPECT_EQ(*Count(), 2);
}

TEST_F(TaskQueueTest, AnErrorIsAnAnswer) {
  const absl::StatusOr<int> answer =
      queue_.Ask([](Library&) -> absl::StatusOr<int> { return absl::NotFoundError("no such book"); });
  EXPECT_EQ(answer.status(), absl::NotFoundError("no such book"));
}

TEST_F(TaskQueueTest, WithoutAStateTheReasonIsTold) {
  queue_.Refuse(absl::UnavailableError("the roof leaks"));
  EXPECT_FALSE(queue_.is_open());
  EXPECT_EQ(Add("one").status(), absl::UnavailableError("the roof leaks"));
  EXPECT_EQ(Count().status(), absl::UnavailableError("the roof leaks"));
  EXPECT_TRUE(library_->shelf.books.empty());
  queue_.Open();
  EXPECT_EQ(*Add("one"), 1);
}

TEST_F(TaskQueueTest, ReadingContinuesAtRest) {
  queue_.Refuse(absl::UnavailableError("the roof leaks"),
                std::make_shared<const Shelf>(Shelf{.books = {"a", "b", "c"}}));
  EXPECT_EQ(*Count(), 3);
  EXPECT_TRUE(absl::IsUnavailable(Add("one").status()));
  queue_.Open();
  EXPECT_EQ(*Count(), 0);
}

TEST_F(TaskQueueTest, TasksThatWaitAreToldWhenTheStateGoes) {
  library_.reset();
  std::vector<std::string> told;
  const auto tell = [&](const absl::StatusOr<Library*>& state) {
    told.emplace_back(state.ok() ? "ran" : state.status().message());
  };
  ASSERT_TRUE(queue_.Post(tell).ok());
  ASSERT_TRUE(queue_.Post(tell).ok());
  EXPECT_TRUE(told.empty());
  queue_.Refuse(absl::UnavailableError("gone"));
  EXPECT_THAT(told, ElementsAre("gone", "gone"));
  EXPECT_FALSE(queue_.Post(tell).ok());
}

TEST_F(TaskQueueTest, TasksRunInTheirOrderAndOnce) {
  Library library;
  library_.reset();
  std::vector<int> ran;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(queue_.Post([&ran, i](const absl::StatusOr<Library*>&) { ran.push_back(i); }).ok());
  queue_.Run(library);
  queue_.Run(library);
  EXPECT_THAT(ran, ElementsAre(0, 1, 2));
}

TEST_F(TaskQueueTest, ATaskMayPostAnother) {
  Library library;
  library_.reset();
  int ran = 0;
  ASSERT_TRUE(queue_
                  .Post([&](const absl::StatusOr<Library*>&) {
                    EXPECT_TRUE(queue_.Post([&](const absl::StatusOr<Library*>&) { ++ran; }).ok());
                  })
                  .ok());
  queue_.Run(library);
  EXPECT_EQ(ran, 0);
  queue_.Run(library);
  EXPECT_EQ(ran, 1);
}

TEST_F(TaskQueueTest, OnceClosedItStaysClosed) {
  library_.reset();
  bool has_run = false;
  ASSERT_TRUE(queue_.Post([&](const absl::StatusOr<Library*>& state) { has_run = state.ok(); }).ok());
  queue_.Close(absl::UnavailableError("the end"));
  EXPECT_TRUE(queue_.is_closed());
  // The owner still has the task that waits.
  Library library;
  queue_.Run(library);
  EXPECT_TRUE(has_run);
  queue_.Open();
  queue_.Refuse(absl::UnavailableError("another reason"), std::make_shared<const Shelf>());
  EXPECT_EQ(Add("one").status(), absl::UnavailableError("the end"));
  EXPECT_EQ(Count().status(), absl::UnavailableError("the end"));
}

TEST_F(TaskQueueTest, ManyThreadsAskOneOwner) {
  constexpr int kThreads = 4, kBooks = 100;
  std::atomic<bool> is_over = false;
  Library library;
  library_.reset();
  std::thread owner([&] {
    while (!is_over) queue_.Run(library);
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < kBooks; ++j) EXPECT_TRUE(Add("one").ok());
    });
  for (std::thread& thread : threads) thread.join();
  is_over = true;
  owner.join();
  EXPECT_EQ(library.shelf.books.size(), kThreads * kBooks);
}

}  // namespace
}  // namespace attune
