#pragma once

#include "engine/log.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// What stands in place of `prev` until the committer knows it.
inline constexpr std::string_view unchained_prev =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// The `prev` of a model's first record: sha256 of the model's id.
base::Digest first_prev(std::string_view model);

/// The head of a log without records.
LogHead empty_head(std::string_view model);

/// sha256 of `prev` as 64 hex digits, followed by the record's canonical bytes (which hold `prev`
/// again).
base::Digest record_hash(const base::Digest& prev, std::string_view bytes);

/// Fills in every `prev` of `batch`, whose first record must be the one after `head`, and advances
/// `head` over it.
ChainedBatch chain(RecordBatch batch, LogHead& head);

/// The fields that stand behind `data` in every record in canonical form, read without parsing all
/// of it; nothing when the bytes have another shape.
struct RecordTail {
    std::string_view prev;
    Seq seq = 0;
    base::Timestamp ts;
    std::string_view type;
};
std::optional<RecordTail> record_tail(std::string_view bytes);

}  // namespace engine
