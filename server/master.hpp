#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "engine/rocks_log.hpp"
#include "http/server.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace server {

/// The master: one data directory, one port. See docs/architecture.md.
class Master {
public:
    struct Options {
        std::filesystem::path data;  ///< made when absent
        std::string host = "127.0.0.1";
        std::uint16_t port = 0;  ///< 0 = any that is free
        base::Duration lease = base::seconds(30);
        engine::Durability durability = engine::Durability::sync;
        std::optional<http::TlsFiles> tls;
    };

    /// Opens everything and listens. Leaves `endpoint.json` and `admin.token` in the data
    /// directory. `conflict` when another master has it. A model that cannot be opened is
    /// refused by name; the others work.
    static base::Result<std::unique_ptr<Master>> start(const Options& options);
    ~Master();
    Master(const Master&) = delete;
    Master& operator=(const Master&) = delete;

    [[nodiscard]] std::string url() const;
    /// Ends long polls, finishes what runs, writes snapshots, closes the log.
    void stop();

private:
    struct Parts;
    explicit Master(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace server
