// Runs the program and keeps what came of it.
#ifndef ATTUNE_TESTS_CLI_RUN_ATTUNE_H_
#define ATTUNE_TESTS_CLI_RUN_ATTUNE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace attune {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string out, err;
  double seconds = 0;
  int64_t peak_kib = 0;  // resident memory
};

struct RunLimits {
  int64_t max_file_bytes = -1;       // as `ulimit -f` sets it; -1: none
  std::string standard_output = {};  // a file; empty: captured
};

// `attune ARGUMENTS…`.
Outcome RunAttune(const std::vector<std::string>& arguments, const RunLimits& limits = {});

// A folder of its own for a test, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // The names in it, sorted.
  std::vector<std::string> Files() const;
  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

}  // namespace attune

#endif  // ATTUNE_TESTS_CLI_RUN_ATTUNE_H_
