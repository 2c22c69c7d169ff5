#pragma once

#include "engine/event.hpp"
#include "engine/log.hpp"
#include "engine/state.hpp"

#include <string_view>

namespace engine {

/// The version (`v`) that this binary writes; it reads all up to this one.
inline constexpr int record_version = 1;

/// Appends the event's record to `batch` in canonical form, `prev` left open (engine/chain.hpp).
void render(RecordBatch& batch, const State& state, const Event& event, const RecordHead& head);

struct ParsedRecord {
    Event event;
    RecordHead head;
};
/// The event of stored bytes. Places that it names are made in `state` when they are new.
/// `unsupported` when the type or version is not known to this binary, `validation` when it is not
/// a record.
base::Result<ParsedRecord> parse(State& state, std::string_view bytes);

}  // namespace engine
