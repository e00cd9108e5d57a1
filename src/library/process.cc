// Facts about the whole process: the language of messages, and the build of the library.
#include "attune/compiler.h"
#include "base/face.h"
#include "library/build_id.h"

const char* attune_build_id() { return attune::kBuildId; }

void attune_set_language(attune_language language) {
  attune::SetFace(language == ATTUNE_LANGUAGE_PYTHON ? attune::Face::kPython : attune::Face::kCpp);
}
