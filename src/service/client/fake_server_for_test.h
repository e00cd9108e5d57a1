// A server for tests of its clients: keeps what it is sent, and breaks answers when it is told to.
#ifndef ATTUNE_SERVICE_CLIENT_FAKE_SERVER_FOR_TEST_H_
#define ATTUNE_SERVICE_CLIENT_FAKE_SERVER_FOR_TEST_H_

#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "http/problem.h"
#include "http/server.h"
#include "nlohmann/json.hpp"
#include "service/client/known_servers.h"

namespace attune {

// Takes one of the faults that are left; false if there is none.
inline bool TakeFault(std::atomic<int>& left) {
  int now = left;
  while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  return now > 0;
}

// Jobs that wait until the test says otherwise, and one file, which each of them has.
class FakeServer {
 public:
  using Json = nlohmann::ordered_json;

  FakeServer() {
    HttpRouter router;
    Add(router, "GET", "/v1/me", &FakeServer::Me);
    Add(router, "POST", "/v1/uploads", &FakeServer::BeginUpload);
    Add(router, "PATCH", "/v1/uploads/{sha256}", &FakeServer::Append);
    Add(router, "POST", "/v1/jobs", &FakeServer::Submit);
    Add(router, "POST", "/v1/predictions", &FakeServer::Predict);
    Add(router, "GET", "/v1/jobs", &FakeServer::List);
    Add(router, "GET", "/v1/jobs/{id}", &FakeServer::Show);
    Add(router, "POST", "/v1/jobs/{id}/cancel", &FakeServer::Cancel);
    Add(router, "GET", "/v1/jobs/{id}/events", &FakeServer::Events);
    Add(router, "GET", "/v1/jobs/{id}/files/{name...}", &FakeServer::File);
    auto server = HttpServer::Start({.address = "127.0.0.1:0"}, std::move(router));
    EXPECT_TRUE(server.ok()) << server.status();
    http_ = *std::move(server);
  }

  KnownServer known() const {
    return {.url = absl::StrCat("http://", http_->address()), .token = "attune_test"};
  }

  std::atomic<int> lost_answers = 0;  // this many submissions are stored, and their answers lost
  std::atomic<int> refusals = 0;      // this many submissions are refused
  std::atomic<int> breaks = 0;        // likewise pieces of uploads
  std::atomic<int64_t> breaks_after =
      0;  // an answer with the file is cut off after this many bytes; 0: none is

  void SetFile(std::string content) {
    const std::lock_guard<std::mutex> lock(mutex_);
    content_ = std::move(content);
  }
  // Adds it, or replaces what is known of it.
  void SetJob(const Json& job) {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_[job["id"]] = job;
    for (const auto& stream : streams_[job["id"]]) Tell(job, *stream);
  }
  // The bodies that have submitted jobs.
  std::vector<Json> taken() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return taken_;
  }
  // The whole files that were sent, by their digests.
  std::map<std::string, std::string> uploads() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return complete_;
  }
  int64_t received() const { return received_; }  // bytes of uploads
  int questions() const { return questions_; }    // how often jobs were asked for
  // At which offsets the answers with the file began.
  std::vector<int64_t> offsets() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return offsets_;
  }

  // All that a server says of a job.
  static Json Job(const std::string& id, const std::string& state) {
    return {{"id", id},
            {"kind", "tuning"},
            {"state", state},
            {"priority", 0},
            {"on", ""},
            {"stage", "build"},
            {"waits_for", "a runner"},
            {"runner", ""},
            {"progress", "7 of 9 trials\x1b"},
            {"error", state == "failed" ? "no memory" : ""},
            {"remaining_seconds", nullptr},
            {"submitted", "2026-03-01T12:05:09.000Z"},
            {"ended", IsOver(state) ? Json("2026-03-01T12:06:09.000Z") : Json()},
            {"result", {{"speedup", 1.5}, {"tasks", {1, 2}}, {"none", nullptr}}},
            {"stages", Json::array()},
            {"files", Json::array()}};
  }
  static bool IsOver(const std::string& state) { return state != "waiting" && state != "running"; }

 private:
  using Answer = HttpResponse (FakeServer::*)(const HttpRequest& request);

  void Add(HttpRouter& router, const char* method, const char* path, Answer answer) {
    constexpr size_t kMost = size_t{8} << 20;
    router.Add({.method = method,
                .path = path,
                .handler =
                    [this, answer](const HttpRequest& request) {
                      const std::lock_guard<std::mutex> lock(mutex_);
                      if (request.Header("authorization") != "Bearer attune_test")
                        return Problem(401, "this token is unknown");
                      return (this->*answer)(request);
                    },
                .most_body_bytes = std::string(method) == "GET" ? 0 : kMost});
  }
  static HttpResponse Say(const Json& json, int status = 200) {
    return {.status = status,
            .body = json.dump(-1, ' ', false, Json::error_handler_t::replace),
            .content_type = "application/json"};
  }
  static HttpResponse Lost() { return Problem(503, "the answer was lost"); }

  HttpResponse Me(const HttpRequest&) {
    return Say({{"name", "test"}, {"tenant", "ann"}, {"role", "member"}});
  }

  HttpResponse BeginUpload(const HttpRequest& request) {
    const Json body = Json::parse(request.body);
    const std::string digest = body["sha256"];
    if (body["bytes"] == 0) complete_[digest] = "";
    sizes_[digest] = body["bytes"].get<int64_t>();
    const bool is_complete = complete_.contains(digest);
    return Say({{"offset", is_complete ? sizes_[digest] : std::ssize(partial_[digest])},
                {"is_complete", is_complete}},
               201);
  }
  HttpResponse Append(const HttpRequest& request) {
    const std::string digest = request.parts.at("sha256");
    std::string& bytes = partial_[digest];
    int64_t offset = -1;
    if (!absl::SimpleAtoi(request.Header("upload-offset"), &offset) || offset != std::ssize(bytes))
      return Problem(409, "not there");
    bytes += request.body;
    received_ += std::ssize(request.body);
    if (std::ssize(bytes) == sizes_[digest]) {
      const std::string all = std::move(bytes);
      partial_.erase(digest);
      if (Sha256Hex(all) != digest) return Problem(422, "another digest");
      complete_[digest] = all;
    }
    return TakeFault(breaks) ? Lost() : HttpResponse{.status = 204};
  }

  HttpResponse Submit(const HttpRequest& request) {
    if (TakeFault(refusals)) return Problem(409, "/agreement: below the bound");
    const Json body = Json::parse(request.body);
    std::string& id = keys_[std::string(request.Header("idempotency-key"))];
    if (id.empty()) {
      id = body["name"].get<std::string>();
      taken_.push_back(body);
      if (!jobs_.contains(id)) jobs_[id] = Job(id, "waiting");
    }
    return TakeFault(lost_answers) ? Lost() : Say(jobs_[id], 201);
  }
  HttpResponse Predict(const HttpRequest& request) {
    const Json asked = Json::parse(request.body)["agreement"];
    return Say({{"verdict", "renegotiated"},
                {"reason", "the deadline is close"},
                {"promises",
                 {{{"name", "latency_mean"},
                   {"state", "expected"},
                   {"limit", asked["latency_ms"]["mean"]},
                   {"probability", 0.9},
                   {"low", 3.5},
                   {"median", 4},
                   {"high", nullptr},
                   {"evidence", {"12 networks", "3 devices"}}},
                  {{"name", "size_bytes"}, {"state", "at_risk"}, {"limit", 1e7}, {"low", 236800.4}}}},
                {"offers", {{{"name", "size_bytes"}, {"limit", 2.5e7}, {"probability", 0.8}}}}});
  }
  HttpResponse List(const HttpRequest& request) {
    ++questions_;
    Json list = Json::array();
    const bool unfinished = request.query.contains("state");
    for (const auto& [id, job] : jobs_)
      if (!unfinished || !IsOver(job["state"])) list.push_back(job);
    // One job a page.
    size_t at = 0;
    if (request.query.contains("cursor")) (void)absl::SimpleAtoi(request.query.at("cursor"), &at);
    Json next = at + 1 < list.size() ? Json(absl::StrCat(at + 1)) : Json();
    return Say({{"jobs", at < list.size() ? Json::array({list[at]}) : Json::array()}, {"next_cursor", next}});
  }
  HttpResponse Show(const HttpRequest& request) {
    ++questions_;
    const auto job = jobs_.find(request.parts.at("id"));
    return job == jobs_.end() ? Problem(404, "there is no such job") : Say(job->second);
  }
  HttpResponse Cancel(const HttpRequest& request) {
    const auto job = jobs_.find(request.parts.at("id"));
    if (job == jobs_.end()) return Problem(404, "there is no such job");
    job->second["state"] = "cancelled";
    return Say(job->second);
  }
  HttpResponse Events(const HttpRequest& request) {
    ++questions_;
    const auto job = jobs_.find(request.parts.at("id"));
    if (job == jobs_.end()) return Problem(404, "there is no such job");
    const auto stream = std::make_shared<EventStream>();
    Tell(job->second, *stream);
    streams_[job->first].push_back(stream);
    return {.events = stream};
  }
  static void Tell(const Json& job, EventStream& stream) {
    const std::string text = job.dump(-1, ' ', false, Json::error_handler_t::replace);
    stream.Send({.id = Sha256Hex(text), .event = "job", .data = text});
    if (IsOver(job["state"])) stream.Close();
  }
  // The file lacks what comes after a break, by which the server cuts the answer off.
  HttpResponse File(const HttpRequest& request) {
    int64_t first = 0;
    const std::string_view range = request.Header("range");
    if (range.size() > 7) (void)absl::SimpleAtoi(range.substr(6, range.size() - 7), &first);
    offsets_.push_back(first);
    const int64_t all = std::ssize(content_);
    const int64_t end = breaks_after > 0 ? std::min(first + breaks_after, all) : all;
    const std::string path = folder_.path() + "/file";
    EXPECT_TRUE(WriteFileAtomically(path, content_.substr(0, static_cast<size_t>(end))).ok());
    HttpResponse response = {
        .status = first > 0 ? 206 : 200,
        .file = HttpFile{std::make_shared<FileDescriptor>(open(path.c_str(), O_RDONLY | O_CLOEXEC)),
                         all - first, first}};
    if (first > 0) response.headers["Content-Range"] = absl::StrCat("bytes ", first, "-", all - 1, "/", all);
    return response;
  }

  const testing::TemporaryFolder folder_;
  std::mutex mutex_;
  std::string content_;
  std::map<std::string, Json> jobs_;
  std::map<std::string, std::string> keys_;  // the job that each has submitted
  std::map<std::string, std::vector<std::shared_ptr<EventStream>>> streams_;
  std::vector<Json> taken_;
  std::vector<int64_t> offsets_;
  std::map<std::string, std::string> complete_, partial_;
  std::map<std::string, int64_t> sizes_;
  std::atomic<int64_t> received_ = 0;
  std::atomic<int> questions_ = 0;
  std::unique_ptr<HttpServer> http_;  // first to end
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_FAKE_SERVER_FOR_TEST_H_
