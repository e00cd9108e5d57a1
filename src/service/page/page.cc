#include "service/page/page.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "http/problem.h"

namespace attune {
namespace {

// Everything comes from this server, and nothing in a model's name can become a script or a style. Charts set
// styles by the object model alone, which the policy allows.
constexpr char kContentSecurityPolicy[] =
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types attune";

const PageFile* FindFile(std::span<const PageFile> files, std::string_view path) {
  const auto found = std::ranges::find(files, path, &PageFile::path);
  return found == files.end() ? nullptr : &*found;
}

// Whether the peer takes gzip (RFC 9110, 12.5.3).
bool TakesGzip(const HttpRequest& request) {
  for (const std::string_view coding : absl::StrSplit(request.Header("accept-encoding"), ',')) {
    const std::pair<std::string_view, std::string_view> parts =
        absl::StrSplit(coding, absl::MaxSplits(';', 1));
    if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(parts.first), "gzip")) continue;
    const std::string weight = absl::StrCat(absl::StripAsciiWhitespace(parts.second));
    return weight.empty() || weight.find_first_of("123456789") != std::string::npos;
  }
  return false;
}

HttpResponse Serve(const PageFile& file, const HttpRequest& request) {
  const bool is_gzipped = TakesGzip(request) && file.gzipped.size() < file.content.size();
  const std::string tag = absl::StrCat("\"", file.digest, is_gzipped ? "-gzip" : "", "\"");
  HttpResponse response = {.content_type = std::string(file.content_type),
                           .headers = {{"ETag", tag},
                                       {"Vary", "Accept-Encoding"},
                                       {"X-Content-Type-Options", "nosniff"},
                                       {"Referrer-Policy", "no-referrer"},
                                       {"Cross-Origin-Opener-Policy", "same-origin"},
                                       {"Cross-Origin-Resource-Policy", "same-origin"},
                                       {"Content-Security-Policy", kContentSecurityPolicy}}};
  response.headers["Cache-Control"] = file.is_hashed ? "public, max-age=31536000, immutable" : "no-cache";
  for (const std::string_view known : absl::StrSplit(request.Header("if-none-match"), ',')) {
    if (absl::StripAsciiWhitespace(known) != tag) continue;
    response.status = 304;
    return response;
  }
  if (is_gzipped) response.headers["Content-Encoding"] = "gzip";
  response.body = is_gzipped ? file.gzipped : file.content;
  return response;
}

HttpResponse AnswerWith(std::span<const PageFile> files, const HttpRequest& request) {
  if (const PageFile* file = FindFile(files, request.path)) return Serve(*file, request);
  const bool may_be_view = request.path != "/v1" && !absl::StartsWith(request.path, "/v1/") &&
                           !absl::StartsWith(request.path, "/assets/");
  const PageFile* index = may_be_view ? FindFile(files, "/index.html") : nullptr;
  return index != nullptr ? Serve(*index, request) : Problem(404, "there is nothing at this path");
}

}  // namespace

void ServePage(std::span<const PageFile> files, HttpRouter& router) {
  if (files.empty()) return;
  router.SetFallback([files](const HttpRequest& request) { return AnswerWith(files, request); });
}

}  // namespace attune
