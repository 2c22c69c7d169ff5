#pragma once

#include "base/result.hpp"
#include "nets/net.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace server {

/// Deployments whose net waits to be checked; more are `overloaded`.
inline constexpr std::size_t checks_waiting_max = 32;
base::Error too_many_checks();

/// A net that may be deployed.
struct CheckedNet {
    std::shared_ptr<const nets::Net> net;  // shared: it becomes the deployment's
    std::string warnings;                  ///< a JSON array; where it was forced, of the errors too
    bool forced = false;                   ///< it has errors, and is deployed all the same
};

/// Compiles and checks a document; computes for up to a few seconds. Errors of the check are
/// `validation` unless `force`.
base::Result<CheckedNet> check_for_deployment(const std::string& document, bool force);

}  // namespace server
