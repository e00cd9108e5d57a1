// Runs the program and keeps its outcome.
#ifndef ATTUNE_TESTS_CLI_RUN_ATTUNE_H_
#define ATTUNE_TESTS_CLI_RUN_ATTUNE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace attune {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string out, err;
  int64_t peak_kib = 0;  // resident memory
};

struct RunOptions {
  int64_t max_file_bytes = -1;                                        // as `ulimit -f` sets it; -1: none
  int64_t max_address_bytes = -1;                                     // as `ulimit -v` does
  int64_t max_open_files = -1;                                        // as `ulimit -n` does
  std::vector<std::pair<std::string, std::string>> environment = {};  // variables besides this process's
  std::string standard_input = {};                                    // a file; empty: this process's
  std::string standard_output = {};                                   // a file; empty: captured
  std::string records = "none";  // the default database, never the user's
  bool on_terminal = false;      // standard error is a terminal of 24 lines of 80 characters
  // Sends `signal` as soon as `signal_when` returns true; it is called again and again. Null: never.
  std::function<bool()> signal_when = nullptr;
  int signal = 0;
};

// Runs `attune ARGUMENTS…`.
Outcome RunAttune(const std::vector<std::string>& arguments, const RunOptions& options = {});

// A folder of its own for a test, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // The names of the files in it, sorted.
  std::vector<std::string> Files() const;
  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& content) const;

 private:
  std::string path_;
};

// The content of a file; empty if it cannot be read.
std::string ReadAll(const std::string& path);

}  // namespace attune

#endif  // ATTUNE_TESTS_CLI_RUN_ATTUNE_H_
