#pragma once

#include "engine/audit.hpp"
#include "engine/chain.hpp"
#include "engine/log.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace engine::testing {

/// A record in canonical form with `data` {"text": TEXT}, not yet chained.
void render_record(
    RecordBatch& batch, Seq seq, Epoch epoch, std::string_view text, base::Timestamp ts = {1000}
);

/// `count` records from `first` on; record n has ts 1000 * n and, by default, a short text.
RecordBatch records(Seq first, std::size_t count, Epoch epoch, std::size_t text_bytes = 20);

/// Chains and appends `count` records behind the model's head.
AppendOutcome append_records(
    EventLog& log,
    std::string_view model,
    Epoch epoch,
    std::size_t count,
    std::size_t text_bytes = 20
);

/// Everything that can be read from `from` on, as text.
std::vector<std::string> all_records(EventLog& log, std::string_view model, Seq from = 1);

/// Whether the readable records 1 to `last` are chained without a gap.
bool chained_up_to(EventLog& log, std::string_view model, Seq last);

/// Every finding and unexplained fault, as text.
std::string told(const LogAudit& audit);

}  // namespace engine::testing
