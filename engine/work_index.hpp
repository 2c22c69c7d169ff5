#pragma once

#include "base/ids.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace engine {

/// The work packets of `agent` transitions that are not over, so that whoever lists or claims them
/// does not look at all operations. Derived from these; the fold keeps it.
class WorkIndex {
public:
    void put(base::OperationId id, const std::string& skill, bool available);
    void drop(base::OperationId id, const std::string& skill);

    /// In the order in which they were begun.
    [[nodiscard]] const std::set<base::OperationId>& open() const { return open_; }
    /// The oldest that may be claimed; of any skill where none is asked for.
    [[nodiscard]] std::optional<base::OperationId> oldest(std::string_view skill) const;

private:
    std::set<base::OperationId> open_;
    std::map<std::string, std::set<base::OperationId>, std::less<>> available_;  ///< by skill
};

}  // namespace engine
