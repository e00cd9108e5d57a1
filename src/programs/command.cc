// The program attune.
#include "programs/programs.h"

int main(int argc, char** argv) { return attune_command_main(argc, argv); }
