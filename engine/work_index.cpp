#include "engine/work_index.hpp"

#include <algorithm>

namespace engine {

void WorkIndex::put(base::OperationId id, const std::string& skill, bool available) {
    open_.insert(id);
    if (available) {
        available_[skill].insert(id);
        return;
    }
    const auto found = available_.find(skill);
    if (found == available_.end()) return;
    found->second.erase(id);
    if (found->second.empty()) available_.erase(found);
}

void WorkIndex::drop(base::OperationId id, const std::string& skill) {
    put(id, skill, false);
    open_.erase(id);
}

std::optional<base::OperationId> WorkIndex::oldest(std::string_view skill) const {
    if (!skill.empty()) {
        const auto found = available_.find(skill);
        if (found == available_.end()) return std::nullopt;
        return *found->second.begin();
    }
    std::optional<base::OperationId> first;
    for (const auto& [name, packets] : available_) {
        const auto id = *packets.begin();
        if (!first || id < *first) first = id;
    }
    return first;
}

}  // namespace engine
