#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "jobs/job.hpp"

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace jobs {

/// Names a lease for ever and on every executor: `[A-Za-z0-9][A-Za-z0-9_-]*`, at most 128 bytes (it
/// is part of addresses and of file names).
struct LeaseId {
    std::string text;
    auto operator<=>(const LeaseId&) const = default;
};
bool valid_lease_id(std::string_view text);

/// epoch * 2^32 + counter: grows with every lease of a job, also over restarts of the master. Below
/// 2^63, never 0. Whoever holds a lower one than the newest is fenced.
using Fencing = std::uint64_t;

/// Enough to know a lease again after a restart of either side.
struct LeaseRef {
    LeaseId lease;
    Fencing fencing = 0;
    std::string model;
    base::AttemptId attempt;
    bool operator==(const LeaseRef&) const = default;
};

/// The right to run one attempt, for a while. The time to live is a duration on the executor's own
/// CLOCK_BOOTTIME: see sync.hpp for when it starts.
struct Lease {
    LeaseId id;
    Fencing fencing = 0;
    base::Duration ttl;
    Job job;
    [[nodiscard]] LeaseRef ref() const { return {id, fencing, job.model, job.attempt}; }
    bool operator==(const Lease&) const = default;
};

base::Json to_json(const Lease& lease);
Lease read_lease(const base::Json& json, const std::string& pointer, wire::Faults& faults);
base::Result<Lease> lease_from_json(const base::Json& json);

/// The members `lease`, `fencing`, `model` and `attempt` of documents that name a lease.
void put_ref(base::Json& object, const LeaseRef& ref);
LeaseRef read_ref(wire::ObjectReader& reader);
LeaseId read_lease_id(wire::ObjectReader& reader, std::string_view key);

}  // namespace jobs

template <>
struct std::hash<jobs::LeaseId> {
    std::size_t operator()(const jobs::LeaseId& id) const noexcept {
        return std::hash<std::string>()(id.text);
    }
};
