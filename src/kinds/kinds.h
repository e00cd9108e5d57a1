// The kinds of jobs that the program knows: a new one is a file in this folder and a row of the table in
// kinds.cc.
#ifndef ATTUNE_KINDS_KINDS_H_
#define ATTUNE_KINDS_KINDS_H_

#include "work/job/kind.h"

namespace attune {

const JobKinds& AllJobKinds();

}  // namespace attune

#endif  // ATTUNE_KINDS_KINDS_H_
