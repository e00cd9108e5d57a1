#include "base/crash_report.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "absl/debugging/symbolize.h"

// Where the linker has put the program, and where its code ends.
extern "C" const char __executable_start, etext;

namespace attune {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
constexpr size_t kStackBytes = size_t{64} << 10;
constexpr int kMostCalls = 64;

std::atomic<pid_t> reporting_process = 0;

// One line, put together without memory from the system: what has crashed may have held its locks.
class Line {
 public:
  Line& operator<<(std::string_view text) {
    for (const char c : text)
      if (size_ + 1 < text_.size()) text_[size_++] = c;
    return *this;
  }
  Line& Number(uint64_t value, int base = 10, size_t digits = 0) {
    std::array<char, 24> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, base).ptr;
    const auto size = static_cast<size_t>(end - text.data());
    for (size_t i = size; i < digits; ++i) *this << "0";
    return *this << std::string_view(text.data(), size);
  }
  // UTC.
  Line& Now() {
    using namespace std::chrono;
    timespec now = {};
    clock_gettime(CLOCK_REALTIME, &now);
    const sys_seconds time{seconds(now.tv_sec)};
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(time - day);
    Number(static_cast<uint64_t>(static_cast<int>(date.year())), 10, 4) << "-";
    Number(static_cast<unsigned>(date.month()), 10, 2) << "-";
    Number(static_cast<unsigned>(date.day()), 10, 2) << "T";
    Number(static_cast<uint64_t>(clock.hours().count()), 10, 2) << ":";
    Number(static_cast<uint64_t>(clock.minutes().count()), 10, 2) << ":";
    return Number(static_cast<uint64_t>(clock.seconds().count()), 10, 2) << "+00:00";
  }
  void Write() {
    text_[size_++] = '\n';
    for (size_t done = 0; done < size_;) {
      const ssize_t count = write(STDERR_FILENO, text_.data() + done, size_ - done);
      if (count <= 0) return;
      done += static_cast<size_t>(count);
    }
  }

 private:
  std::array<char, 1024> text_;
  size_t size_ = 0;  // one byte stays for the end of the line
};

void WriteCall(int number, void* address) {
  // The call before the return address.
  auto* const call = static_cast<char*>(address) - (number > 0 ? 1 : 0);
  std::array<char, 512> name;
  Line line;
  line << "attune:   #";
  line.Number(static_cast<uint64_t>(number)) << " ";
  line << (absl::Symbolize(call, name.data(), static_cast<int>(name.size())) ? name.data() : "?");
  if (call >= &__executable_start && call < &etext) {
    line << " +0x";
    line.Number(static_cast<uint64_t>(call - &__executable_start), 16);
  }
  line.Write();
}

// The kernel has set the default action again, so that a second fault, or the same one again, ends the
// process.
void Report(int signal, siginfo_t* info, void*) {
  if (getpid() == reporting_process.load()) {
    Line line;
    line << "attune: ";
    line.Now() << " error: crash signal=";
    line.Number(static_cast<uint64_t>(signal)) << " address=0x";
    line.Number(reinterpret_cast<uint64_t>(info->si_addr), 16) << " thread=";
    line.Number(static_cast<uint64_t>(syscall(SYS_gettid))).Write();
    std::array<void*, kMostCalls> calls;
    const int count = backtrace(calls.data(), kMostCalls);
    // The first are this function and the kernel's call of it.
    constexpr int kOfSignal = 2;
    for (int i = kOfSignal; i < count; ++i) WriteCall(i - kOfSignal, calls[static_cast<size_t>(i)]);
  }
  raise(signal);  // comes when this function returns
}

}  // namespace

void ReportCrashes() {
  reporting_process = getpid();
  absl::InitializeSymbolizer("attune");
  // The first call loads a library, which no handler may do.
  std::array<void*, 1> ignored;
  backtrace(ignored.data(), 1);
  // For the main thread, whose own one may be full.
  static std::array<char, kStackBytes> stack;
  const stack_t other = {.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = &Report;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

}  // namespace attune
