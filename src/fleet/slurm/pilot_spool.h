// The folder in which a controller of pilots and its pilots meet: on a file system that the machine of the
// controller and all nodes share.
//
// Problem: a pilot needs a secret, its invitation, and Slurm shows a job's script and arguments, and each
// node its processes' arguments, to others. Idea: the secret lies in a file that only this user can read, and
// the job gets its path; the key that the pilot enrols with stays in the same folder. Both end with the
// folder, once the pilot is forgotten. Price: those who run the shared file system can read them, as they can
// read the user's other keys there.
#ifndef ATTUNE_FLEET_SLURM_PILOT_SPOOL_H_
#define ATTUNE_FLEET_SLURM_PILOT_SPOOL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// For one thread at a time. Errors name the path.
class PilotSpool {
 public:
  // Makes the folder if it is missing. Fails if others can write to it, or another controller has it.
  static absl::StatusOr<std::unique_ptr<PilotSpool>> Open(const std::string& path);

  // A random word that was chosen when the spool was made: pilots of other spools have other names.
  const std::string& tag() const { return tag_; }
  // The names of the pilots that have a folder.
  absl::StatusOr<std::vector<std::string>> Pilots() const;

  // Puts the invitation into the pilot's folder, which is made if it is missing.
  absl::Status Invite(const std::string& name, const std::string& invitation) const;
  void Remove(const std::string& name) const;
  // The last line that the pilot has printed, safe to show; empty if there is none.
  std::string LastLine(const std::string& name) const;

  const std::string& path() const { return path_; }
  std::string InvitationFile(const std::string& name) const { return FileOf(name, "invitation"); }
  std::string StateFolder(const std::string& name) const { return FileOf(name, "state"); }
  std::string Log(const std::string& name) const { return FileOf(name, "log"); }
  // A job's script that becomes the command in its arguments, so that no command needs quoting for a shell.
  std::string Script() const { return path_ + "/pilot.sh"; }

 private:
  PilotSpool(std::string path, std::string tag, FileDescriptor lock)
      : path_(std::move(path)), tag_(std::move(tag)), lock_(std::move(lock)) {}

  std::string FileOf(const std::string& name, const char* file) const {
    return path_ + "/" + name + "/" + file;
  }

  const std::string path_, tag_;
  const FileDescriptor lock_;
};

// Eight random hexadecimal digits.
std::string RandomPilotId();

}  // namespace attune

#endif  // ATTUNE_FLEET_SLURM_PILOT_SPOOL_H_
