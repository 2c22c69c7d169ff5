#include "engine/refold.hpp"

#include "engine/retire.hpp"
#include "engine/snapshot.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace engine {

Refold::Refold(EventLog& log, SnapshotStore& snapshots, std::string_view model, Derived derived)
    : log_(log), derived_(derived), model_(std::make_unique<Model>(std::string(model))) {
    if (derived == Derived::left_alone) return;
    const auto seqs = snapshots.list(model);
    if (!seqs) {
        findings_.push_back({0, seqs.error().message});
        return;
    }
    for (const auto seq : *seqs) {
        const auto snapshot = snapshots.open(model, seq);
        if (snapshot) {
            wanted_[seq] = snapshot->info().state_hash;
        } else {
            findings_.push_back({seq, snapshot.error().message});
        }
    }
}

std::optional<std::string> Refold::visit(const StoredRecord& record) {
    if (!model_) return std::nullopt;
    if (record.seq != model_->state().seq + 1) {
        model_.reset();  // the one before has a finding of its own
        return std::nullopt;
    }
    if (const auto done = model_->replay(record.bytes); !done) {
        model_.reset();
        return "it cannot be folded, and stops the model: " + done.error().message;
    }
    if (derived_ == Derived::left_alone) {
        model_->take_leaving();
        return std::nullopt;
    }
    compare_index(record.seq, model_->take_leaving());
    const auto snapshot = wanted_.find(record.seq);
    if (snapshot != wanted_.end() && state_hash(model_->state()) != snapshot->second) {
        findings_.push_back({record.seq, "the snapshot's state is not what the log folds to"});
    }
    return std::nullopt;
}

void Refold::compare_index(Seq seq, const std::vector<Case>& left) {
    for (const Case& gone : left) {
        const auto kept = log_.cases(model_->state().model, {gone.id.seq - 1}, 1);
        if (!kept) {
            findings_.push_back({seq, kept.error().message});
            continue;
        }
        const bool there = !kept->empty() && kept->front().id == gone.id;
        if (there && kept->front().text == retired_text(gone)) continue;
        findings_.push_back({
            seq,
            fmt::format(
                "case {} {} the index of cases",
                text(gone.id),
                there ? "is not what the log folds to in" : "is missing in"
            ),
        });
    }
}

base::Json refold_json(const std::vector<Refold::Finding>& findings) {
    base::Json list = base::Json::array();
    for (const auto& finding : findings)
        list.push_back({{"snapshot", finding.seq}, {"message", finding.message}});
    return list;
}

}  // namespace engine
