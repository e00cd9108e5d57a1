// A full disk, for tests that tests/fleet/with_small_disk.sh runs.
#ifndef ATTUNE_BASE_TESTING_SMALL_DISK_H_
#define ATTUNE_BASE_TESTING_SMALL_DISK_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include "base/file_descriptor.h"

// In SetUp(): such a test needs a disk of its own, on which the temporary folders are.
#define SKIP_WITHOUT_SMALL_DISK() \
  if (std::getenv("ATTUNE_SMALL_DISK") == nullptr) GTEST_SKIP() << "runs by tests/fleet/with_small_disk.sh"

namespace attune::testing {

// Fills the disk of a folder, until it is freed.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : filler_(folder + "/filler") {}

  // Leaves this many bytes.
  void Fill(size_t left = 0) const {
    constexpr size_t kPageBytes = 4096;
    const FileDescriptor file(open(filler_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const std::string page(kPageBytes, 'x');
    while (write(file.get(), page.data(), page.size()) == std::ssize(page)) {
    }
    const off_t size = lseek(file.get(), 0, SEEK_END);
    ASSERT_EQ(ftruncate(file.get(), size - static_cast<off_t>(left)), 0);
  }
  void Free() const { std::filesystem::remove(filler_); }

 private:
  const std::string filler_;
};

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_SMALL_DISK_H_
