#include "base/out_of_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <iterator>
#include <new>

namespace attune {
namespace {

// Globals, because a handler takes no arguments. The name of the program does not change while it runs.
const char* program_name = "";
std::terminate_handler previous_terminate = nullptr;

iovec Text(const char* text) { return {const_cast<char*>(text), std::strlen(text)}; }

[[noreturn]] void Terminate() {
  try {
    if (const std::exception_ptr current = std::current_exception()) std::rethrow_exception(current);
  } catch (const std::bad_alloc&) {
    // Only system calls are safe: there is no memory left.
    const iovec line[] = {Text(program_name), Text(": "), Text(kOutOfMemory), Text("\n")};
    [[maybe_unused]] const ssize_t written = writev(STDERR_FILENO, line, std::size(line));
    _exit(1);
  } catch (...) {
    previous_terminate();
  }
  previous_terminate();
  _exit(1);
}

}  // namespace

void ExplainOutOfMemory(const char* program) {
  program_name = program;
  std::set_new_handler([] { throw std::bad_alloc(); });
  previous_terminate = std::set_terminate(Terminate);
}

}  // namespace attune
