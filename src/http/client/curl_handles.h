// Owners of libcurl's handles. Only for the sources of this folder.
#ifndef ATTUNE_HTTP_CLIENT_CURL_HANDLES_H_
#define ATTUNE_HTTP_CLIENT_CURL_HANDLES_H_

#include <curl/curl.h>

#include <memory>

namespace attune {

template <auto kFree>
struct FreeCurl {
  template <typename T>
  void operator()(T* handle) const {
    kFree(handle);
  }
};

using CurlEasy = std::unique_ptr<CURL, FreeCurl<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, FreeCurl<curl_multi_cleanup>>;
using CurlLines = std::unique_ptr<curl_slist, FreeCurl<curl_slist_free_all>>;

// Return null if there is no memory. The first call initializes libcurl until the process ends. Thread safe.
CurlEasy MakeCurlEasy();
CurlMulti MakeCurlMulti();

// Sets the options of a handle, up to the first that libcurl does not take.
class CurlOptions {
 public:
  // The handle must outlive it.
  explicit CurlOptions(CURL* handle) : handle_(handle) {}

  template <typename T>
  void Set(CURLoption option, T value) {
    if (code_ == CURLE_OK) code_ = curl_easy_setopt(handle_, option, value);
  }
  // Sets nothing from now on, for this reason; does nothing if there is one already.
  void Fail(CURLcode code) {
    if (code_ == CURLE_OK) code_ = code;
  }
  CURLcode code() const { return code_; }

 private:
  CURL* const handle_;
  CURLcode code_ = CURLE_OK;
};

// Returns false, and leaves `lines` as it was, if there is no memory.
[[nodiscard]] bool AppendLine(CurlLines& lines, const char* line);

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_CURL_HANDLES_H_
