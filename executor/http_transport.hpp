#pragma once

#include "executor/transport.hpp"
#include "http/client.hpp"

#include <string>

namespace executor {

/// Connections over HTTP, as jobs/routes.hpp says.
class HttpTransport final : public Transport {
public:
    HttpTransport(http::ClientOptions options, std::string executor)
        : options_(std::move(options)), executor_(std::move(executor)) {}
    base::Result<std::unique_ptr<Connection>> connect() override;

private:
    http::ClientOptions options_;
    std::string executor_;
};

}  // namespace executor
