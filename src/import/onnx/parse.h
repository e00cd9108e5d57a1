// Parses messages of ONNX from hostile bytes.
#ifndef ATTUNE_IMPORT_ONNX_PARSE_H_
#define ATTUNE_IMPORT_ONNX_PARSE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"
#include "google/protobuf/io/coded_stream.h"

namespace attune::onnx {

// `what` names the bytes in errors.
template <typename Proto>
absl::Status ParseProto(std::string_view bytes, Proto& proto, std::string_view what) {
  // Messages nest as graph → node → attribute → graph: this allows about 20 nested subgraphs.
  constexpr int kMaxMessageDepth = 64;
  // Protocol buffers are limited to 2 GiB; larger models keep their weights in separate files.
  if (bytes.size() > INT32_MAX) return InvalidInput(what, " is over 2 GiB, which no ONNX file can be");
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kMaxMessageDepth);
  if (!proto.MergeFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return InvalidInput(what, " is damaged or cut short: it does not parse as ONNX");
  }
  return absl::OkStatus();
}

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_PARSE_H_
