// For tests: counts how often a file is opened, by any process.
#ifndef ATTUNE_BASE_TESTING_FILE_OPENS_H_
#define ATTUNE_BASE_TESTING_FILE_OPENS_H_

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace attune::testing {

class FileOpens {
 public:
  // Counts from now on. The system merges equal events that follow one another; what is done with the file
  // between two times that it is opened keeps these apart.
  explicit FileOpens(const std::string& path) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    const uint32_t all = IN_OPEN | IN_ACCESS | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE;
    EXPECT_GE(inotify_add_watch(events_, path.c_str(), all), 0) << path << ": " << std::strerror(errno);
  }
  FileOpens(const FileOpens&) = delete;
  FileOpens& operator=(const FileOpens&) = delete;
  ~FileOpens() { close(events_); }

  int Count() {
    alignas(inotify_event) char buffer[1 << 14];
    for (ssize_t size = 0; (size = read(events_, buffer, sizeof(buffer))) > 0;) {
      for (ssize_t at = 0; at < size;) {
        inotify_event event;
        std::memcpy(&event, buffer + at, sizeof(event));
        if ((event.mask & IN_OPEN) != 0) ++count_;
        at += static_cast<ssize_t>(sizeof(event) + event.len);
      }
    }
    return count_;
  }

 private:
  const int events_;
  int count_ = 0;
};

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_FILE_OPENS_H_
