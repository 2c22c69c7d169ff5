#include "base/json.hpp"
#include "jobs/sync.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

void forget_refused(auto& /*message*/) {}
/// Leases that could not be read are not written: what they were is known to nobody.
void forget_refused(jobs::SyncReply& reply) {
    reply.refused.clear();
}

/// Whatever is read can be written, and read again as the same.
template <class Message>
void check(
    const base::Json& json, base::Result<Message> (*read)(const base::Json&), const char* what
) {
    auto message = read(json);
    if (!message) return;
    forget_refused(*message);
    const auto again = read(*base::parse_json(base::canonical(to_json(*message))));
    base::check(again && *again == *message, what);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto json = base::parse_json({reinterpret_cast<const char*>(data), size});
    if (!json) return 0;
    check(*json, &jobs::sync_request_from_json, "a sync read, written and read again is the same");
    check(*json, &jobs::sync_reply_from_json, "an answer read, written and read again is the same");
    check(*json, &jobs::job_from_json, "a job read, written and read again is the same");
    return 0;
}
