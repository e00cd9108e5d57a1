// The SHA-256 of bytes that come in pieces; base/file.h has that of bytes that are in memory.
#ifndef ATTUNE_BASE_SHA256_H_
#define ATTUNE_BASE_SHA256_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/input_file.h"

typedef struct evp_md_ctx_st EVP_MD_CTX;

namespace attune {

// Not thread safe.
class Sha256 {
 public:
  Sha256();

  void Add(std::string_view bytes);
  // 64 hexadecimal digits. Once, after the last Add().
  std::string Finish();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const;
  };

  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

// Returns the digest of the whole file. Fails if the file cannot be read, or has become shorter since it was
// opened.
absl::StatusOr<std::string> Sha256OfFile(const InputFile& file);

}  // namespace attune

#endif  // ATTUNE_BASE_SHA256_H_
