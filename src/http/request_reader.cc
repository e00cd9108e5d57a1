#include "http/request_reader.h"

#include <boost/beast/http.hpp>
#include <cstdint>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "http/connection_counts.h"

namespace attune {
namespace {

namespace http = boost::beast::http;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

void RequestReader::ReadHeader(const std::shared_ptr<void>& owner, Then then) {
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(options_.most_header_bytes));
  parser_->body_limit(std::numeric_limits<uint64_t>::max());  // until it is known what the request wants
  http::async_read_header(stream_, buffer_, *parser_,
                          [owner, call = std::move(then)](Error error, size_t) { call(error); });
}

void RequestReader::ReadBody(const std::shared_ptr<void>& owner, size_t most, Then then) {
  parser_->body_limit(most);
  if (View(parser_->get()[http::field::expect]) != "100-continue") return Read(owner, std::move(then));
  const auto answer = std::make_shared<http::response<http::empty_body>>(http::status::continue_, 11);
  http::async_write(stream_, *answer, [this, owner, answer, call = std::move(then)](Error error, size_t) {
    if (!error) Read(owner, call);
  });
}

std::string_view RequestReader::method() const { return View(parser_->get().method_string()); }

std::string_view RequestReader::target() const { return View(parser_->get().target()); }

HttpRequest RequestReader::WithoutBody() const {
  HttpRequest request = {.method = std::string(method()), .path = std::string(target())};
  for (const auto& field : parser_->get()) {
    const std::string name = absl::AsciiStrToLower(View(field.name_string()));
    std::string& value = request.headers[name];
    absl::StrAppend(&value, value.empty() ? "" : ", ", View(field.value()));
  }
  request.peer = PeerBehind(options_.limits.proxies, peer_, request.Header("x-forwarded-for"));
  return request;
}

HttpRequest RequestReader::Take() {
  HttpRequest request = WithoutBody();
  request.body = std::move(parser_->get().body());
  return request;
}

void RequestReader::Read(const std::shared_ptr<void>& owner, Then then) {
  http::async_read(stream_, buffer_, *parser_,
                   [owner, call = std::move(then)](Error error, size_t) { call(error); });
}

}  // namespace attune
