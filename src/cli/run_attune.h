// The program `attune`.
#ifndef ATTUNE_CLI_RUN_ATTUNE_H_
#define ATTUNE_CLI_RUN_ATTUNE_H_

namespace attune {

// Does what main() is to do, and returns its exit status.
int RunAttune(int argc, char** argv);

}  // namespace attune

#endif  // ATTUNE_CLI_RUN_ATTUNE_H_
