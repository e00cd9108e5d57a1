// The names that this folder uses from the importers' common code, and the schema's messages.
#ifndef ATTUNE_IMPORT_TENSORFLOW_VOCABULARY_H_
#define ATTUNE_IMPORT_TENSORFLOW_VOCABULARY_H_

#include <string>

#include "import/common/emitter.h"
#include "import/common/evaluator.h"
#include "import/common/failure.h"
#include "import/tensorflow/tensorflow.pb.h"

namespace attune::tensorflow {

using namespace attune_tensorflow;  // NOLINT: the schema's messages, and nothing else
using namespace importing;          // NOLINT: what all formats share

using AttributeMap = google::protobuf::Map<std::string, AttrValue>;

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_VOCABULARY_H_
