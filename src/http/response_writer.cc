#include "http/response_writer.h"

#include <boost/beast/http.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>

namespace attune {
namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

template <typename Body>
http::response<Body> Begin(const HttpResponse& response) {
  http::response<Body> begun(static_cast<http::status>(response.status), 11);
  begun.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) begun.set(name, value);
  return begun;
}

}  // namespace

void ResponseWriter::Write(const std::shared_ptr<void>& owner, HttpResponse response,
                           const ResponseForm& form) {
  form_ = form;
  if (response.events != nullptr) return WriteEvents(owner, std::move(response));
  if (response.file) return WriteFile(owner, std::move(response));
  text_ = Begin<http::string_body>(response);
  text_.keep_alive(form_.keeps_alive);
  text_.body() = std::move(response.body);
  text_.prepare_payload();
  if (form_.is_head) text_.body().clear();
  limit_time_(true);
  http::async_write(stream_, text_, [this, owner](error_code error, size_t) {
    if (!error) done_(form_.keeps_alive);
  });
}

void ResponseWriter::WriteFile(const std::shared_ptr<void>& owner, HttpResponse response) {
  header_ = Begin<Empty>(response);
  header_.content_length(static_cast<uint64_t>(response.file->bytes));
  header_.keep_alive(form_.keeps_alive);
  WriteHeader(owner, [this, owner, file = *std::move(response.file)] {
    if (form_.is_head) return done_(form_.keeps_alive);
    file_.Write(owner, file);
  });
}

void ResponseWriter::WriteEvents(const std::shared_ptr<void>& owner, HttpResponse response) {
  events_.Take(std::move(response.events));
  response.content_type = "text/event-stream";
  response.headers["Cache-Control"] = "no-store";
  header_ = Begin<Empty>(response);
  header_.chunked(true);
  header_.keep_alive(false);
  WriteHeader(owner, [this, owner] {
    limit_time_(false);
    events_.Begin(owner);
  });
}

void ResponseWriter::WriteHeader(const std::shared_ptr<void>& owner, std::function<void()> then) {
  serializer_.emplace(header_);
  limit_time_(true);
  http::async_write_header(stream_, *serializer_,
                           [this, owner, call = std::move(then)](error_code error, size_t) {
                             if (!error) return call();
                             if (has_events()) CloseEvents();
                           });
}

}  // namespace attune
