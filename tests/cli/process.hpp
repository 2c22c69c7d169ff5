#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tests::cli {

struct ProcessOptions {
    std::vector<std::string> arguments;              ///< what follows `netwright`
    std::map<std::string, std::string> environment;  ///< set, on top of the test's own
    std::filesystem::path out;                       ///< files; appended to
    std::filesystem::path err;
    std::filesystem::path in = "/dev/null";
};

/// `netwright` as a child of the test, killed at the latest when this object ends.
class Process {
public:
    explicit Process(const ProcessOptions& options);
    ~Process();
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] bool running();
    void send(int signal) const;
    /// Until it has ended: its exit code, or 128 + the signal that ended it.
    int wait();

private:
    pid_t pid_ = -1;
    int status_ = 0;
    bool ended_ = false;
};

}  // namespace tests::cli
