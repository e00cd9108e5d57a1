// Tests of what a submission says of its jobs, and of the files that it sends.
#include "service/client/submission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/testing/kept_progress.h"
#include "base/testing/temporary_folder.h"
#include "import/onnx/onnx.pb.h"
#include "nlohmann/json.hpp"
#include "work/file/jobs_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SubmissionTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) {
    fs::create_directories(fs::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  // A model whose weights are in a file of this name; empty: in itself.
  void WriteModel(const std::string& name, const std::string& weights = "") {
    attune_onnx::ModelProto model;
    model.set_ir_version(8);
    attune_onnx::TensorProto* tensor = model.mutable_graph()->add_initializer();
    if (!weights.empty()) {
      tensor->set_data_location(attune_onnx::TensorProto::EXTERNAL);
      attune_onnx::StringStringEntryProto* entry = tensor->add_external_data();
      entry->set_key("location");
      entry->set_value(weights);
    }
    Write(name, model.SerializeAsString());
  }
  absl::StatusOr<PreparedSubmission> Prepare(const std::string& yaml, const std::string& on = "") {
    auto file = ParseJobsFile(yaml, "jobs.yaml", folder_.path());
    EXPECT_TRUE(file.ok()) << file.status();
    for (JobSpec& job : file->jobs) job.on = on;
    return PrepareSubmission(file->jobs);
  }
  // The only job of the file.
  json Job(const std::string& yaml) {
    const auto submission = Prepare(yaml, "desk");
    EXPECT_TRUE(submission.ok()) << submission.status();
    return submission.ok() ? json(submission->jobs[0]) : json();
  }
  std::string ErrorOf(const std::string& yaml) { return Prepare(yaml).status().ToString(); }

  static std::vector<std::string> Names(const json& job) {
    std::vector<std::string> names;
    for (const json& file : job["inputs"]) names.push_back(file["name"]);
    return names;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(SubmissionTest, ATuningJobSendsItsModel) {
  WriteModel("nets/net.v2.onnx");
  Write("costs.txt", "costs");
  const json job = Job(R"(
jobs: [{model: nets/../nets/net.v2.onnx, trials: 20, cost_model: costs.txt, priority: 3, deadline: 1h, json: r.json}]
)");
  EXPECT_EQ(job["name"], "net.v2");
  EXPECT_EQ(job["kind"], "tuning");
  EXPECT_EQ(job["priority"], 3);
  EXPECT_EQ(job["deadline_seconds"], 3600);
  EXPECT_EQ(job["on"], "desk");
  const json settings = {{"model", "in/model/net.v2.onnx"},
                         {"trials", 20},
                         {"cost_model", "in/cost_model/costs.txt"},
                         {"json", "out/r.json"},
                         {"output", "out/net.v2.atn"},
                         {"report", "out/net.v2.html"},
                         {"records", "out/net.v2.db"}};
  EXPECT_EQ(job["settings"], settings);
  EXPECT_THAT(Names(job), ElementsAre("in/model/net.v2.onnx", "in/cost_model/costs.txt"));
  EXPECT_EQ(job["inputs"][1]["sha256"], Sha256Hex("costs"));
}

TEST_F(SubmissionTest, NamesOfOutputsAreKeptAndNoCostModelIsNoFile) {
  WriteModel("net.onnx");
  const json job = Job("jobs: [{model: net.onnx, output: best.atn, cost_model: none}]");
  const json settings = job["settings"];
  EXPECT_EQ(settings["output"], "out/best.atn");
  EXPECT_EQ(settings["report"], "out/net.html");
  EXPECT_EQ(settings["cost_model"], "none");
  EXPECT_THAT(Names(job), ElementsAre("in/model/net.onnx"));
}

TEST_F(SubmissionTest, AQuantizationSendsAllFilesOfItsFolders) {
  Write("saved/saved_model.pb", "model");
  Write("saved/variables/v.index", "");
  Write("photos/b/2", "two");
  Write("photos/a", "one");
  fs::create_symlink("2", folder_ / "photos/b/again");
  fs::create_symlink(folder_ / "photos/b/2", folder_ / "photos/c");
  const json job = Job("jobs: [{kind: quantization, model: saved/, data: photos}]");
  const json settings = {
      {"model", "in/model/saved"}, {"data", "in/data/photos"}, {"output", "out/saved-quantized"}};
  EXPECT_EQ(job["settings"], settings);
  EXPECT_THAT(Names(job), ElementsAre("in/model/saved/saved_model.pb", "in/model/saved/variables/v.index",
                                      "in/data/photos/a", "in/data/photos/b/2", "in/data/photos/b/again",
                                      "in/data/photos/c"));
  for (int i = 3; i < 6; ++i) EXPECT_EQ(job["inputs"][static_cast<size_t>(i)]["sha256"], Sha256Hex("two"));
}

TEST_F(SubmissionTest, AProgramSendsItsFiles) {
  Write("logs/access.log", "log");
  Write("a.txt", "a");
  const json job = Job(R"(
jobs: [{id: zlib, kind: program, program: zlib, files: [logs, a.txt], settings: {file: a.txt}}]
)");
  const json settings = {
      {"program", "zlib"}, {"files", {"in/files/logs", "in/files/a.txt"}}, {"settings", {{"file", "a.txt"}}}};
  EXPECT_EQ(job["settings"], settings);
  EXPECT_THAT(Names(job), ElementsAre("in/files/logs/access.log", "in/files/a.txt"));
  const json one = Job("jobs: [{kind: program, program: p, files: a.txt}]");
  EXPECT_EQ(one["settings"]["files"], "in/files/a.txt");
}

TEST_F(SubmissionTest, AMockJobSendsNothing) {
  const json job = Job("jobs: [{kind: mock, stages: [{name: s}]}]");
  EXPECT_EQ(job["kind"], "mock");
  EXPECT_TRUE(job["inputs"].empty());
}

TEST_F(SubmissionTest, ExternalDataIsSentBesideItsModel) {
  WriteModel("nets/net.onnx", "weights//w.bin");
  Write("nets/weights/w.bin", "weights");
  EXPECT_THAT(Names(Job("jobs: [{model: nets/net.onnx}]")),
              ElementsAre("in/model/net.onnx", "in/model/weights/w.bin"));
  WriteModel("nets/net.onnx", "../secret");
  Write("secret", "secret");
  EXPECT_THAT(ErrorOf("jobs: [{model: nets/net.onnx}]"), HasSubstr("leaves the model's folder"));
}

TEST_F(SubmissionTest, AFileOfSeveralJobsIsReadOnce) {
  WriteModel("net.onnx");
  testing::KeptProgress progress;
  const auto file = ParseJobsFile("jobs: [{model: net.onnx}, {model: ./net.onnx}]", "", folder_.path());
  const auto submission = PrepareSubmission(file->jobs, progress.control());
  ASSERT_TRUE(submission.ok()) << submission.status();
  EXPECT_EQ(progress.reports(), 1);
  ASSERT_EQ(submission->sources.size(), 1u);
  EXPECT_EQ(submission->sources.begin()->second.path, folder_ / "net.onnx");
  EXPECT_EQ(submission->jobs[1]["name"], "net-2");
}

TEST_F(SubmissionTest, ANameIsOneForServers) {
  const std::string letters(62, 'x');
  EXPECT_EQ(Job("jobs: [{id: " + letters + "äöü, kind: mock, stages: [{name: s}]}]")["name"], letters + "--");
  EXPECT_EQ(Job("jobs: [{id: \"net (1).v2\", kind: mock, stages: [{name: s}]}]")["name"], "net--1-.v2");
}

TEST_F(SubmissionTest, WhatServersDoNotTakeIsRefusedInOneSentence) {
  WriteModel("net.onnx");
  EXPECT_THAT(ErrorOf("jobs: [{model: net.onnx, records: ../r.db}]"),
              HasSubstr("job \"net\": records: \"../r.db\" has a folder"));
  EXPECT_THAT(ErrorOf("jobs: [{kind: program, command: [ls]}]"),
              HasSubstr("job \"program\": command: is for jobs on this machine"));
  EXPECT_THAT(ErrorOf("jobs: [{model: net.onnx, output: models/net.atn}]"),
              HasSubstr("job \"net\": output: \"models/net.atn\" has a folder"));
  EXPECT_THAT(ErrorOf("jobs: [{model: net.onnx, json: ..}]"),
              HasSubstr("json: \"..\" is not a name of a file"));
  EXPECT_THAT(ErrorOf("jobs: [{model: net.onnx, json: net.atn}]"),
              HasSubstr("job \"net\": json: \"net.atn\" is written twice"));
  EXPECT_THAT(ErrorOf("jobs: [{model: net.onnx, trails: 1}]"), HasSubstr("trails: is not a setting"));
}

TEST_F(SubmissionTest, FilesThatCannotBeSentAreNamed) {
  WriteModel("net.onnx");
  EXPECT_THAT(ErrorOf("jobs: [{model: none.onnx}]"), HasSubstr("model: " + folder_.path() + "/none.onnx"));
  EXPECT_THAT(ErrorOf("jobs: [{kind: quantization, model: net.onnx, data: none}]"), HasSubstr("data: "));
  fs::create_directory(folder_ / "empty");
  EXPECT_THAT(ErrorOf("jobs: [{kind: quantization, model: net.onnx, data: empty}]"),
              HasSubstr("empty: holds no files"));
  Write("a/x", "1");
  Write("b/x", "2");
  EXPECT_THAT(ErrorOf("jobs: [{kind: program, program: p, files: [a/x, b/x]}]"),
              HasSubstr("in/files/x: is there twice"));
  EXPECT_THAT(ErrorOf("jobs: [{kind: program, program: p, files: [/]}]"), HasSubstr("files: "));
}

TEST_F(SubmissionTest, HostileFoldersAreRefused) {
  const char* yaml = "jobs: [{kind: program, program: p, files: photos}]";
  Write("photos/a", "a");
  Write("outside", "secret");
  fs::create_symlink("../outside", folder_ / "photos/link");
  EXPECT_THAT(ErrorOf(yaml), HasSubstr("photos/link: is a link that leads out of the folder"));
  fs::remove(folder_ / "photos/link");
  fs::create_symlink("nothing", folder_ / "photos/link");
  EXPECT_THAT(ErrorOf(yaml), HasSubstr("photos/link: is a link to nowhere"));
  fs::remove(folder_ / "photos/link");
  fs::create_directory_symlink(".", folder_ / "photos/link");
  EXPECT_THAT(ErrorOf(yaml), HasSubstr("photos/link: is a link to something that is not a file"));
  fs::remove(folder_ / "photos/link");
  ASSERT_EQ(mkfifo((folder_ / "photos/pipe").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(yaml), HasSubstr("photos/pipe: is neither a file nor a folder"));
  fs::remove(folder_ / "photos/pipe");
  for (const char* name : {"line\nbreak", "\xff", "\xe2\x80\xae"}) {
    Write(std::string("photos/") + name, "");
    EXPECT_THAT(ErrorOf(yaml), HasSubstr("is not a name of a file of a job")) << name;
    fs::remove(folder_ / (std::string("photos/") + name));
  }
  EXPECT_TRUE(Prepare(yaml).ok());
}

}  // namespace
}  // namespace attune
