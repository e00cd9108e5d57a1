#include "http/client/curl_handles.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

TEST(CurlOptions, TheFirstErrorStays) {
  const CurlEasy handle = MakeCurlEasy();
  ASSERT_NE(handle, nullptr);
  CurlOptions options(handle.get());
  options.Set(CURLOPT_URL, "http://localhost/");
  EXPECT_EQ(options.code(), CURLE_OK);
  options.Fail(CURLE_OK);
  EXPECT_EQ(options.code(), CURLE_OK);
  options.Fail(CURLE_OUT_OF_MEMORY);
  options.Fail(CURLE_SSL_CONNECT_ERROR);
  options.Set(CURLOPT_URL, "http://localhost/");
  EXPECT_EQ(options.code(), CURLE_OUT_OF_MEMORY);
}

TEST(CurlOptions, AnUnknownOptionIsAnError) {
  const CurlEasy handle = MakeCurlEasy();
  ASSERT_NE(handle, nullptr);
  CurlOptions options(handle.get());
  options.Set(static_cast<CURLoption>(CURLOPT_LASTENTRY), 1L);
  EXPECT_EQ(options.code(), CURLE_UNKNOWN_OPTION);
}

}  // namespace
}  // namespace attune
