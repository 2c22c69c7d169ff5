#pragma once

#include "base/ed25519.hpp"
#include "base/result.hpp"
#include "http/client.hpp"

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

namespace executor {

/// Where a one-time token comes from when the master does not know the executor's key yet.
struct EnrolmentSource {
    std::optional<std::filesystem::path> token_file;  ///< its first line is the one-time token
    /// On the master's own machine: the admin's token, with which one is asked for.
    std::optional<std::filesystem::path> admin_token_file;
};

/// The executor's key (0600), made when there is none.
base::Result<base::SigningKey> executor_key(const std::filesystem::path& file);
base::Result<std::string> first_line_of(const std::filesystem::path& file);

/// The access token of an executor: got by signing the master's challenge, after an enrolment where
/// that is needed. Thread-safe.
class Access {
public:
    static base::Result<std::unique_ptr<Access>> make(
        http::ClientOptions client,
        std::string executor,
        base::SigningKey key,
        EnrolmentSource source
    );

    /// A token other than `refused`, which the master did not take (empty: none was tried yet).
    /// Blocks. `unauthenticated` or `not_permitted`: the executor cannot become anybody here.
    base::Result<std::string> token(const std::string& refused);
    /// Ends a call in progress with `cancelled`, and all later ones. From any thread.
    void interrupt() { client_.interrupt(); }

private:
    Access(http::Client client, std::string executor, base::SigningKey key, EnrolmentSource source);
    base::Result<std::string> ask();
    base::Result<void> enrol();
    base::Result<std::string> one_time_token();
    base::Result<std::string> post(
        std::string target, std::string body, std::string_view member, std::string bearer = {}
    );

    std::mutex asking_;
    http::Client client_;
    std::string executor_;
    base::SigningKey key_;
    EnrolmentSource source_;
    std::string token_;
};

}  // namespace executor
