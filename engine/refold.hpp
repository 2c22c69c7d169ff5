#pragma once

#include "engine/audit.hpp"
#include "engine/model.hpp"
#include "engine/snapshot_store.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Folds a model's records from the first one, and holds what was derived from them against that:
/// the snapshots, and the index of cases. For `AuditOptions::visit`.
class Refold {
public:
    struct Finding {
        Seq seq = 0;  ///< of the snapshot, or of the record that let the case go
        std::string message;
    };

    Refold(EventLog& log, SnapshotStore& snapshots, std::string_view model);

    /// What the fold says against the record.
    std::optional<std::string> visit(const StoredRecord& record);
    [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

private:
    void compare_index(Seq seq, const std::vector<Case>& left);

    EventLog& log_;
    std::unique_ptr<Model> model_;
    std::map<Seq, base::Digest> wanted_;
    std::vector<Finding> findings_;
};

/// `[{"snapshot", "message"}]`
base::Json refold_json(const std::vector<Refold::Finding>& findings);

}  // namespace engine
