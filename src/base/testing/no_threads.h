// For tests of code that runs when the system has no more threads.
#ifndef ATTUNE_BASE_TESTING_NO_THREADS_H_
#define ATTUNE_BASE_TESTING_NO_THREADS_H_

#include <pthread.h>

#include <cstddef>

namespace attune::testing {

// While it lives, no thread can be created: each would need a stack as large as the address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&saved_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 47);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;
  ~NoThreads() {
    pthread_setattr_default_np(&saved_);
    pthread_attr_destroy(&saved_);
  }

 private:
  pthread_attr_t saved_;
};

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_NO_THREADS_H_
