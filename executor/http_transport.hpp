#pragma once

#include "executor/access.hpp"
#include "executor/transport.hpp"
#include "http/client.hpp"

#include <string>

namespace executor {

/// Connections over HTTP, as jobs/routes.hpp says.
class HttpTransport final : public Transport {
public:
    /// `access` outlives the connections.
    HttpTransport(http::ClientOptions options, std::string executor, Access& access)
        : options_(std::move(options)), executor_(std::move(executor)), access_(access) {}
    base::Result<std::unique_ptr<Connection>> connect() override;

private:
    http::ClientOptions options_;
    std::string executor_;
    Access& access_;
};

}  // namespace executor
