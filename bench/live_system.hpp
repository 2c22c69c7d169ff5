#pragma once

#include "base/files.hpp"
#include "base/json.hpp"
#include "http/client.hpp"
#include "server/master.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace bench {

/// An executor in a process of its own. Made before the process has threads, since it is a copy of
/// it; begins to work when told.
class ExecutorProcess {
public:
    explicit ExecutorProcess(std::int64_t slots);
    /// Stops it and waits for its end.
    ~ExecutorProcess();
    ExecutorProcess(const ExecutorProcess&) = delete;
    ExecutorProcess& operator=(const ExecutorProcess&) = delete;

    void begin(
        const std::string& url,
        const std::filesystem::path& admin_token_file,
        const std::filesystem::path& work
    );
    /// Processor time so far, without that of the jobs' processes.
    [[nodiscard]] double cpu_seconds() const;

private:
    base::FileDescriptor orders_;
    pid_t pid_ = -1;
};

/// A real master on a folder of its own, its executor, and a client that is its admin. Whatever
/// fails ends the process with the reason.
class LiveSystem {
public:
    explicit LiveSystem(std::int64_t slots);
    ~LiveSystem();
    LiveSystem(const LiveSystem&) = delete;
    LiveSystem& operator=(const LiveSystem&) = delete;

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }
    [[nodiscard]] std::string url() const { return master_->url(); }
    [[nodiscard]] std::string admin_token() const;
    [[nodiscard]] ExecutorProcess& executor() { return executor_; }
    http::Client& client() { return *client_; }
    base::Json post(const std::string& target, const std::string& body);

private:
    ExecutorProcess executor_;
    base::TemporaryFolder folder_;
    std::unique_ptr<server::Master> master_;
    std::optional<http::Client> client_;
};

/// Starts a case of it by `/api/models/bench/nets/NAME/cases`: it takes one call of this tool and
/// ends in `done`.
std::string net_with_call(const std::string& name, const std::string& tool);

}  // namespace bench
