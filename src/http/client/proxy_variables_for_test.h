// The environment's variables that name proxies, for tests.
#ifndef ATTUNE_HTTP_CLIENT_PROXY_VARIABLES_FOR_TEST_H_
#define ATTUNE_HTTP_CLIENT_PROXY_VARIABLES_FOR_TEST_H_

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

namespace attune::testing {

// Sets these variables, and unsets the others that name proxies, for as long as it lives.
class ProxyVariables {
 public:
  explicit ProxyVariables(const std::map<std::string, std::string>& variables) {
    for (const char* name :
         {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"}) {
      const char* before = std::getenv(name);
      before_[name] = before == nullptr ? std::nullopt : std::optional<std::string>(before);
      const auto found = variables.find(name);
      Set(name, found == variables.end() ? std::nullopt : std::optional(found->second));
    }
  }
  ProxyVariables(const ProxyVariables&) = delete;
  ProxyVariables& operator=(const ProxyVariables&) = delete;
  ~ProxyVariables() {
    for (const auto& [name, value] : before_) Set(name, value);
  }

 private:
  static void Set(const std::string& name, const std::optional<std::string>& value) {
    value ? setenv(name.c_str(), value->c_str(), /*overwrite=*/1) : unsetenv(name.c_str());
  }

  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace attune::testing

#endif  // ATTUNE_HTTP_CLIENT_PROXY_VARIABLES_FOR_TEST_H_
