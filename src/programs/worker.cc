// The program attune-worker: runs what the library wants to have run in a process of its own.
#include "programs/programs.h"

int main(int argc, char** argv) { return attune_worker_main(argc, argv); }
