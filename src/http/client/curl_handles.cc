#include "http/client/curl_handles.h"

namespace attune {
namespace {

bool IsCurlReady() {
  static const bool kIsReady = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return kIsReady;
}

}  // namespace

CurlEasy MakeCurlEasy() { return CurlEasy(IsCurlReady() ? curl_easy_init() : nullptr); }
CurlMulti MakeCurlMulti() { return CurlMulti(IsCurlReady() ? curl_multi_init() : nullptr); }

bool AppendLine(CurlLines& lines, const char* line) {
  curl_slist* longer = curl_slist_append(lines.get(), line);
  if (longer == nullptr) return false;
  static_cast<void>(lines.release());
  lines.reset(longer);
  return true;
}

}  // namespace attune
