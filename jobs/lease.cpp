#include "jobs/lease.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace jobs {

namespace {

constexpr wire::IntegerRule fencing_rule{1, INT64_MAX};
constexpr std::int64_t ttl_ms_max = std::int64_t{24} * 3600 * 1000;

base::AttemptId read_attempt(wire::ObjectReader& reader) {
    const auto text = reader.text("attempt");
    const auto id = base::attempt_id(text);
    if (!id) reader.fault("attempt", fmt::format("'{}' is not an attempt id", text));
    return id.value_or(base::AttemptId{});
}

}  // namespace

bool valid_lease_id(std::string_view text) {
    if (text.empty() || text.size() > 128 || text.front() == '-' || text.front() == '_') {
        return false;
    }
    return std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    });
}

LeaseId read_lease_id(wire::ObjectReader& reader, std::string_view key) {
    auto text = reader.text(key, {128, false});
    if (!text.empty() && !valid_lease_id(text)) {
        reader.fault(key, fmt::format("'{}' is not a lease id", text));
    }
    return {std::move(text)};
}

void put_ref(base::Json& object, const LeaseRef& ref) {
    object["lease"] = ref.lease.text;
    object["fencing"] = static_cast<std::int64_t>(ref.fencing);
    object["model"] = ref.model;
    object["attempt"] = base::text(ref.attempt);
}

LeaseRef read_ref(wire::ObjectReader& reader) {
    LeaseRef ref;
    ref.lease = read_lease_id(reader, "lease");
    ref.fencing = static_cast<Fencing>(reader.integer("fencing", fencing_rule));
    ref.model = reader.text("model", {128, false});
    ref.attempt = read_attempt(reader);
    return ref;
}

base::Json to_json(const Lease& lease) {
    return {
        {"lease", lease.id.text},
        {"fencing", static_cast<std::int64_t>(lease.fencing)},
        {"ttlMs", lease.ttl.ms()},
        {"job", to_json(lease.job)},
    };
}

Lease read_lease(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Lease lease;
    lease.id = read_lease_id(reader, "lease");
    lease.fencing = static_cast<Fencing>(reader.integer("fencing", fencing_rule));
    lease.ttl = base::milliseconds(reader.integer("ttlMs", {1, ttl_ms_max}));
    if (const auto* job = reader.required("job")) {
        lease.job = read_job(*job, reader.child("job"), faults);
    }
    reader.finish();
    return lease;
}

base::Result<Lease> lease_from_json(const base::Json& json) {
    wire::Faults faults;
    auto lease = read_lease(json, "", faults);
    if (!faults.empty()) return base::fail(wire::error("the lease", std::move(faults)));
    return lease;
}

}  // namespace jobs
