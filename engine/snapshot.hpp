#pragma once

#include "engine/snapshot_store.hpp"
#include "engine/state.hpp"

#include <functional>
#include <string_view>

namespace engine {

/// A copy of a state that another thread may write out: tokens share their data, nets and texts are
/// copied. Taking it is the only part that holds up the strand.
class FrozenState {
public:
    explicit FrozenState(const State& state);

    /// The state in canonical form, one JSON line a thing, in an order that depends on nothing but
    /// the state: two equal states give equal bytes. `sink` returns false to stop.
    void write(const std::function<bool(std::string_view line)>& sink) const;
    [[nodiscard]] Seq seq() const { return seq_; }

private:
    Seq seq_ = 0;
    std::vector<std::string> lines_;  ///< all but the tokens
    std::vector<places::Token> tokens_;
};

/// sha256 of the canonical form.
base::Digest state_hash(const State& state);

/// Writes a snapshot; `head` is the record that the frozen state ends with.
base::Result<SnapshotInfo> write_snapshot(
    SnapshotStore& store, const FrozenState& state, std::string_view model, const LogHead& head
);
/// Fills an empty state. `tamper` when the snapshot is not what it says.
base::Result<void> read_snapshot(State& state, SnapshotReader& reader);

}  // namespace engine
