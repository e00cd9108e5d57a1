// Says where a program has crashed.
#ifndef ATTUNE_BASE_CRASH_REPORT_H_
#define ATTUNE_BASE_CRASH_REPORT_H_

namespace attune {

// From now on, a signal that ends this process because of a fault of its own (SIGSEGV, SIGBUS, SIGILL,
// SIGFPE, SIGABRT) writes the time, the signal, and the calls that have led to it to standard error, and then
// ends it as before. Names are those of the program's symbols; the numbers behind "+" tell addr2line the
// places. A child that was forked reports nothing. For the start of a service, before it has threads.
void ReportCrashes();

}  // namespace attune

#endif  // ATTUNE_BASE_CRASH_REPORT_H_
