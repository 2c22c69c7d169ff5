#pragma once

#include "engine/audit.hpp"
#include "engine/model.hpp"
#include "engine/snapshot_store.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Folds a model's records from the first one: what it refuses stops the model from opening. With
/// `Derived::compared` it also checks what was derived from them against that: the snapshots, and
/// the index of cases. For `AuditOptions::visit`.
class Refold {
public:
    enum class Derived : std::uint8_t { left_alone, compared };
    struct Finding {
        Seq seq = 0;  ///< of the snapshot, or of the record that let the case go
        std::string message;
    };

    Refold(EventLog& log, SnapshotStore& snapshots, std::string_view model, Derived derived);

    /// Why the record cannot be folded. The records behind it are not folded either.
    std::optional<std::string> visit(const StoredRecord& record);
    [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

private:
    void compare_index(Seq seq, const std::vector<Case>& left);

    EventLog& log_;
    Derived derived_;
    std::unique_ptr<Model> model_;  ///< null once a record was refused
    std::map<Seq, base::Digest> wanted_;
    std::vector<Finding> findings_;
};

/// `[{"snapshot", "message"}]`
base::Json refold_json(const std::vector<Refold::Finding>& findings);

}  // namespace engine
