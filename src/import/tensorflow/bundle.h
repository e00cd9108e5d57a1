// A checkpoint on disk ("tensor bundle"): an index file and data files beside it.
#ifndef ATTUNE_IMPORT_TENSORFLOW_BUNDLE_H_
#define ATTUNE_IMPORT_TENSORFLOW_BUNDLE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/input_file.h"
#include "graph/tensor.h"
#include "import/tensorflow/tensorflow.pb.h"

namespace attune::tensorflow {

class Bundle {
 public:
  // Reads PREFIX.index; data is read tensor by tensor from PREFIX.data-NNNNN-of-NNNNN. Neither these files
  // nor their folder may be links (base/input_file.h), which could lead out of the model's folder. Errors:
  // NotFound, InvalidArgument.
  static absl::StatusOr<Bundle> Open(const std::string& prefix);

  bool Has(const std::string& key) const { return entries_.contains(key); }

  // The tensor for a key, which must exist. Unimplemented if it is stored in slices, or has a type that
  // Attune does not support; InvalidArgument if the data file does not contain it.
  absl::StatusOr<Tensor> Read(const std::string& key) const;

  // Maps variables' full names to their keys, as stated by an object-based checkpoint; names that several
  // variables share are left out.
  const std::map<std::string, std::string>& keys_by_name() const { return keys_by_name_; }

 private:
  absl::Status ReadHeader(const std::map<std::string, std::string>& table);
  absl::Status ReadObjectGraph();
  // Opens the data file and checks that it contains the entry's bytes.
  absl::StatusOr<InputFile> OpenData(const attune_tensorflow::BundleEntryProto& entry) const;
  std::string DataFile(int shard) const;

  std::string prefix_;
  int num_shards_ = 0;
  std::map<std::string, attune_tensorflow::BundleEntryProto> entries_;
  std::map<std::string, std::string> keys_by_name_;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_BUNDLE_H_
