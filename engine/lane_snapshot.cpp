#include "base/log.hpp"
#include "engine/lane.hpp"
#include "engine/open_model.hpp"
#include "engine/snapshot.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

// When a model's snapshot is due, and its writing beside the strand.
namespace engine {

using base::fail;
using base::Result;

void ModelLane::snapshot_if_due() {
    if (!model_) return;
    if (!frozen_) {
        const std::size_t due = std::max(parts_.snapshot_bytes_min, snapshot_->last_size.load());
        if (snapshot_->running.load() || bytes_since_snapshot_ <= due) return;
        frozen_ = std::make_shared<const FrozenState>(model_->state());
        bytes_since_snapshot_ = 0;
    }
    if (durable_.load() >= frozen_->seq()) write_frozen(false);
}

void ModelLane::snapshot_at_stop() {
    if (!model_ || snapshot_->running.load() || durable_.load() != model_->state().seq) return;
    if (bytes_since_snapshot_ == 0 && !frozen_) return;
    frozen_ = std::make_shared<const FrozenState>(model_->state());
    write_frozen(true);
}

void ModelLane::write_frozen(bool here) {
    snapshot_->running.store(true);
    auto write = [frozen = std::exchange(frozen_, nullptr),
                  name = name_,
                  writing = snapshot_,
                  &log = parts_.log,
                  &store = parts_.snapshots] {
        const auto head = log_head_at(log, name, frozen->seq());
        const auto written = head ? write_snapshot(store, *frozen, name, *head)
                                  : Result<SnapshotInfo>(fail(head.error()));
        if (written) {
            writing->last_size.store(written->size);
        } else {
            base::log_warning(
                fmt::format("no snapshot of model '{}': {}", name, written.error().message)
            );
        }
        writing->running.store(false);
    };
    if (here) {
        write();
    } else {
        parts_.background.post(std::move(write));
    }
}

}  // namespace engine
