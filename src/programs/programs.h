// The programs whose code is in libattune.so, so that it is installed once: each is a main() that calls one
// of these, and is of the same build as the library.
#ifndef ATTUNE_PROGRAMS_PROGRAMS_H_
#define ATTUNE_PROGRAMS_PROGRAMS_H_

#include "attune/attune.h"

extern "C" {

// The programs attune and attune-worker. Return the exit status of main().
ATTUNE_EXPORT int attune_command_main(int argc, char** argv);
ATTUNE_EXPORT int attune_worker_main(int argc, char** argv);

}  // extern "C"

#endif  // ATTUNE_PROGRAMS_PROGRAMS_H_
