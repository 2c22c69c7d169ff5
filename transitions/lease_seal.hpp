#pragma once

#include "jobs/lease.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace transitions {

/// Makes lease ids that nobody can guess and that prove themselves: an id carries a MAC over the
/// executor, model, operation, attempt and fencing number that it was made for, so that a master
/// knows its own leases also after a restart, and nobody's else.
class LeaseSeal {
public:
    /// The key outlives the process; whoever has it can make leases.
    explicit LeaseSeal(std::string key) : key_(std::move(key)) {}

    [[nodiscard]] jobs::LeaseId id_of(
        std::string_view executor,
        std::string_view model,
        base::AttemptId attempt,
        jobs::Fencing fencing
    ) const;
    /// The lease was granted to this executor, with all that `ref` says of it.
    [[nodiscard]] bool proves(std::string_view executor, const jobs::LeaseRef& ref) const;

private:
    std::string key_;
};

}  // namespace transitions
