#include "engine/reader.hpp"
#include "engine/record.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

struct Context {
    Reader& reader;
    State& state;
    Event& event;
    bool bad_id = false;

    template <class Id>
    Id id(std::optional<Id> parsed) {
        if (!parsed) bad_id = true;
        return parsed.value_or(Id{});
    }
    template <class Ids>
    void token_ids(Ids& into) {
        reader.open_array();
        while (reader.element())
            into.push_back(id(base::token_id(reader.string())));
    }
};

void read_produced(Context& c) {
    c.reader.open_array();
    while (c.reader.element()) {
        NewToken token;
        token.case_id = c.event.case_id;
        PlaceName place{c.event.net, {}};
        c.reader.open_object();
        while (const auto key = c.reader.key()) {
            if (*key == "case") {
                token.case_id = c.id(base::case_id(c.reader.string()));
            } else if (*key == "data") {
                token.data = places::Payload::make(c.reader.raw());
            } else if (*key == "net") {
                place.net = c.reader.string();
            } else if (*key == "place") {
                place.name = c.reader.string();
            } else if (*key == "shared") {
                if (c.reader.boolean()) place.net.clear();
            } else if (*key == "visibleAt") {
                token.visible_at = {c.reader.integer()};
            } else {
                c.bad_id = true;
                return;
            }
        }
        token.place = c.state.ensure_place(place);
        c.event.produced.push_back(std::move(token));
    }
}

void read_reserved(Context& c) {
    c.reader.open_array();
    while (c.reader.element())
        c.token_ids(c.event.reserved.emplace_back());
}

void read_cancelled(Context& c) {
    c.reader.open_array();
    while (c.reader.element())
        c.event.cancelled.push_back(c.id(base::operation_id(c.reader.string())));
}

using Field = std::pair<std::string_view, void (*)(Context&)>;

// In canonical order, which is the order in which they are met.
constexpr std::array data_fields = {
    Field{
        "attempt",
        [](Context& c) {
            c.event.attempt = static_cast<std::uint32_t>(c.reader.unsigned_integer());
        }
    },
    Field{"call", [](Context& c) { c.event.call = c.reader.raw(); }},
    Field{"cancelled", read_cancelled},
    Field{"case", [](Context& c) { c.event.case_id = c.id(base::case_id(c.reader.string())); }},
    Field{"consumed", [](Context& c) { c.token_ids(c.event.consumed); }},
    Field{"deployment", [](Context& c) { c.event.deployment = c.reader.unsigned_integer(); }},
    Field{"effect", [](Context& c) { c.event.effect = c.reader.string(); }},
    Field{"error", [](Context& c) { c.event.error = c.reader.raw(); }},
    Field{"executor", [](Context& c) { c.event.executor = c.reader.string(); }},
    Field{"fencing", [](Context& c) { c.event.fencing = c.reader.unsigned_integer(); }},
    Field{"info", [](Context& c) { c.event.info = c.reader.raw(); }},
    Field{"lease", [](Context& c) { c.event.lease = c.reader.string(); }},
    Field{"net", [](Context& c) { c.event.net = c.reader.string(); }},
    Field{"next", [](Context& c) { c.event.next = {c.reader.integer()}; }},
    Field{
        "operation",
        [](Context& c) { c.event.operation = c.id(base::operation_id(c.reader.string())); }
    },
    Field{"produced", read_produced},
    Field{"read", [](Context& c) { c.token_ids(c.event.read); }},
    Field{"reserved", read_reserved},
    Field{"reset", [](Context& c) { c.token_ids(c.event.reset); }},
    Field{"toolId", [](Context& c) { c.event.tool_id = c.reader.string(); }},
    Field{"transition", [](Context& c) { c.event.transition = c.reader.string(); }},
    Field{"values", [](Context& c) { c.event.values = c.reader.raw(); }},
    Field{"versionHash", [](Context& c) { c.event.version_hash = c.reader.string(); }},
};

std::string read_data(Context& c) {
    c.reader.open_object();
    const auto* next = data_fields.begin();
    while (const auto key = c.reader.key()) {
        next =
            std::find_if(next, data_fields.end(), [&](const Field& f) { return f.first == *key; });
        if (next == data_fields.end()) return fmt::format("field data.{} is unknown", *key);
        next->second(c);
    }
    return c.bad_id ? "an id or a token in data is malformed" : "";
}

}  // namespace

Result<ParsedRecord> parse(State& state, std::string_view bytes) {
    ParsedRecord parsed;
    Reader reader(bytes);
    Context context{reader, state, parsed.event};
    std::string type;
    std::string fault;
    std::int64_t version = 0;
    reader.open_object();
    while (const auto key = reader.key()) {
        if (*key == "actor") {
            parsed.event.actor = reader.string();
        } else if (*key == "cause") {
            const auto cause = reader.raw();
            if (cause != "null") parsed.event.cause = cause;
        } else if (*key == "data") {
            fault = read_data(context);
            if (!fault.empty()) break;
        } else if (*key == "epoch") {
            parsed.head.epoch = static_cast<Epoch>(reader.unsigned_integer());
        } else if (*key == "prev") {
            reader.string();
        } else if (*key == "seq") {
            parsed.head.seq = reader.unsigned_integer();
        } else if (*key == "ts") {
            parsed.head.ts = {reader.integer()};
        } else if (*key == "type") {
            type = reader.string();
        } else if (*key == "v") {
            version = reader.integer();
        } else {
            fault = fmt::format("field {} is unknown", *key);
            break;
        }
    }
    if (!fault.empty()) return fail(ErrorCode::validation, fault);
    if (!reader.at_end()) return fail(ErrorCode::validation, "not a record in canonical form");
    const auto known = event_type(type);
    if (!known || version > record_version) {
        return fail(
            ErrorCode::unsupported,
            fmt::format(
                "record {} of type '{}' version {} is unknown", parsed.head.seq, type, version
            ),
            "open this data with the newer netwright that wrote it"
        );
    }
    parsed.event.type = *known;
    return parsed;
}

}  // namespace engine
