// The fences around measured code that this machine cannot give.
#ifndef ATTUNE_FLEET_HOST_SANDBOX_LACKS_H_
#define ATTUNE_FLEET_HOST_SANDBOX_LACKS_H_

#include <string>
#include <vector>

namespace attune {

// Tries the fences of base/process/{namespaces,sandbox}.h, and returns one sentence for each that the system
// lacks. Forks a process to try them in, since they change the process that they surround. Call it while no
// other thread of this process holds a lock.
std::vector<std::string> SandboxLacks();

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_SANDBOX_LACKS_H_
