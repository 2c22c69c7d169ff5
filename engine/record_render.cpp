#include "base/json.hpp"
#include "engine/chain.hpp"
#include "engine/record.hpp"

#include <charconv>

namespace engine {

namespace {

void append_number(std::string& out, std::int64_t value) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// Members in the order they are called for; the callers call in canonical order.
class Object {
public:
    explicit Object(std::string& out) : out_(out) { out_ += '{'; }
    std::string& key(std::string_view name) {
        if (!first_) out_ += ',';
        first_ = false;
        out_ += '"';
        out_ += name;
        out_ += "\":";
        return out_;
    }
    void raw(std::string_view name, std::string_view json) {
        if (!json.empty()) key(name) += json;
    }
    void string(std::string_view name, std::string_view text) {
        if (!text.empty()) base::append_canonical_string(key(name), text);
    }
    void number(std::string_view name, std::int64_t value) {
        if (value != 0) append_number(key(name), value);
    }
    template <class Id>
    void id(std::string_view name, Id value) {
        if (!value) return;
        key(name) += '"';
        append_text(out_, value);
        out_ += '"';
    }
    void close() { out_ += '}'; }

private:
    std::string& out_;
    bool first_ = true;
};

template <class Ids>
void append_ids(std::string& out, const Ids& ids) {
    out += '[';
    bool first = true;
    for (const auto id : ids) {
        if (!first) out += ',';
        first = false;
        out += '"';
        append_text(out, id);
        out += '"';
    }
    out += ']';
}

void append_produced(std::string& out, const State& state, const Event& event) {
    out += '[';
    bool first = true;
    for (const auto& token : event.produced) {
        if (!first) out += ',';
        first = false;
        const auto& place = state.store.place(token.place);
        Object entry(out);
        if (token.case_id != event.case_id) entry.id("case", token.case_id);
        entry.raw("data", token.data.view());
        if (!place.net.empty() && place.net != event.net) entry.string("net", place.net);
        entry.string("place", place.name);
        if (place.net.empty()) entry.raw("shared", "true");
        entry.number("visibleAt", token.visible_at.us);
        entry.close();
    }
    out += ']';
}

void append_data(std::string& out, const State& state, const Event& event) {
    Object data(out);
    data.number("attempt", event.attempt);
    data.raw("call", event.call);
    if (!event.cancelled.empty()) append_ids(data.key("cancelled"), event.cancelled);
    data.id("case", event.case_id);
    if (!event.consumed.empty()) append_ids(data.key("consumed"), event.consumed);
    data.number("deployment", static_cast<std::int64_t>(event.deployment));
    data.string("effect", event.effect);
    data.raw("error", event.error);
    data.string("executor", event.executor);
    data.number("fencing", static_cast<std::int64_t>(event.fencing));
    data.raw("info", event.info);
    data.string("lease", event.lease);
    data.string("net", event.net);
    data.number("next", event.next.us);
    data.id("operation", event.operation);
    if (!event.produced.empty()) append_produced(data.key("produced"), state, event);
    if (!event.read.empty()) append_ids(data.key("read"), event.read);
    if (!event.reserved.empty()) {
        data.key("reserved") += '[';
        for (std::size_t i = 0; i < event.reserved.size(); ++i) {
            if (i != 0) out += ',';
            append_ids(out, event.reserved[i]);
        }
        out += ']';
    }
    if (!event.reset.empty()) append_ids(data.key("reset"), event.reset);
    data.string("toolId", event.tool_id);
    data.string("transition", event.transition);
    data.raw("values", event.values);
    data.string("versionHash", event.version_hash);
    data.close();
}

}  // namespace

void render(RecordBatch& batch, const State& state, const Event& event, const RecordHead& head) {
    std::string& out = batch.bytes;
    const std::size_t from = out.size();
    Object record(out);
    base::append_canonical_string(record.key("actor"), event.actor);
    record.raw("cause", event.cause.empty() ? "null" : event.cause);
    append_data(record.key("data"), state, event);
    append_number(record.key("epoch"), head.epoch);
    record.key("prev") += '"';
    const std::size_t prev_offset = out.size() - from;
    out += unchained_prev;
    out += '"';
    append_number(record.key("seq"), static_cast<std::int64_t>(head.seq));
    append_number(record.key("ts"), head.ts.us);
    record.string("type", name(event.type));
    append_number(record.key("v"), record_version);
    record.close();
    batch.records.push_back({
        .seq = head.seq,
        .ts = head.ts,
        .prev_offset = static_cast<std::uint32_t>(prev_offset),
        .size = static_cast<std::uint32_t>(out.size() - from),
    });
}

}  // namespace engine
