#include "transitions/lease_seal.hpp"

#include "base/hmac.hpp"

#include <fmt/format.h>

namespace transitions {

jobs::LeaseId LeaseSeal::id_of(
    std::string_view executor,
    std::string_view model,
    base::AttemptId attempt,
    jobs::Fencing fencing
) const {
    // None of the parts can hold a line break.
    const auto message = fmt::format(
        "netwright lease 1\n{}\n{}\n{}\n{}", executor, model, base::text(attempt), fencing
    );
    return {fmt::format("L{}-{}", fencing, base::hmac_sha256(key_, message).hex())};
}

bool LeaseSeal::proves(std::string_view executor, const jobs::LeaseRef& ref) const {
    const auto made = id_of(executor, ref.model, ref.attempt, ref.fencing);
    return base::equal_in_constant_time(made.text, ref.lease.text);
}

}  // namespace transitions
