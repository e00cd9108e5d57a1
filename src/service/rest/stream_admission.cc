#include "service/rest/stream_admission.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "service/access/problems.h"

namespace attune {
namespace {

constexpr double kRetrySeconds = 10;
constexpr int kServerError = 500;

HttpRequest CredentialsOf(const HttpRequest& request) {
  HttpRequest credentials = {.method = "GET", .path = request.path, .peer = request.peer};
  for (const char* name : {"authorization", "cookie"})
    if (const auto found = request.headers.find(name); found != request.headers.end())
      credentials.headers.insert(*found);
  return credentials;
}

}  // namespace

std::optional<HttpResponse> StreamAdmission::Admit(const HttpRequest& request, const AccessToken& caller,
                                                   AccessRole least, std::shared_ptr<EventStream> stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(admitted_, [](const Admitted& one) { return one.stream->is_closed(); });
  const auto of_token =
      std::ranges::count(admitted_, caller.id, [](const auto& one) { return one.caller.id; });
  const auto of_tenant =
      std::ranges::count(admitted_, caller.tenant, [](const auto& one) { return one.caller.tenant; });
  std::string who, how_many;
  if (of_token >= limits_.of_token) {
    who = "this token", how_many = absl::StrCat(limits_.of_token);
  } else if (of_tenant >= limits_.of_tenant) {
    who = "this tenant", how_many = absl::StrCat(limits_.of_tenant);
  } else if (std::ssize(admitted_) >= limits_.in_all) {
    who = "the server", how_many = absl::StrCat(limits_.in_all);
  }
  if (who.empty()) {
    admitted_.push_back({CredentialsOf(request), caller, least, std::move(stream)});
    return std::nullopt;
  }
  ++num_refused_;
  stream->Close();
  return TooManyProblem(kRetrySeconds, absl::StrCat(who, " has ", how_many,
                                                    " streams of events already, the most it may; close "
                                                    "some, or follow all jobs by one at /v1/events"));
}

bool StreamAdmission::MayStay(const Admitted& admitted) {
  const auto caller = callers_.Identify(admitted.credentials);
  // A database that does not answer now says nothing about anybody.
  if (const auto* problem = std::get_if<HttpResponse>(&caller)) return problem->status >= kServerError;
  const auto& now = std::get<AccessToken>(caller);
  return now.tenant == admitted.caller.tenant && now.role >= admitted.least;
}

void StreamAdmission::LookAgain() {
  std::vector<Admitted> admitted;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(admitted_, [](const Admitted& one) { return one.stream->is_closed(); });
    admitted = admitted_;
  }
  // Each who has streams is asked about once.
  std::map<std::tuple<std::string, std::string, AccessRole>, bool> may_stay;
  for (const Admitted& one : admitted) {
    const auto [known, is_new] =
        may_stay.try_emplace({std::string(one.credentials.Header("authorization")),
                              std::string(one.credentials.Header("cookie")), one.least});
    if (is_new) known->second = MayStay(one);
    if (!known->second) one.stream->Close();
  }
}

int64_t StreamAdmission::refused() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return num_refused_;
}

}  // namespace attune
