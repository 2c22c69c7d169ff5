#include "places/index.hpp"

#include <utility>

namespace places {

const Index::Group* Index::link(Slot slot, const Token& token) {
    auto key = rules_.classify(token);
    if (!key) return nullptr;
    std::optional<std::string> rank;
    if (rules_.rank) {
        rank = rules_.rank(token);
        if (!rank) return nullptr;
    }
    const auto entry =
        buckets_.try_emplace(Group{rules_.by_case ? token.case_id.seq : 0, std::move(*key)}).first;
    Bucket& bucket = entry->second;
    Node node{.group = &entry->first, .id = token.id};
    if (rank) {
        place_by_rank(bucket, node, slot, std::move(*rank));
    } else {
        place_by_age(bucket, node);
    }
    (node.previous == no_slot ? bucket.head : nodes_.at(node.previous).next) = slot;
    (node.next == no_slot ? bucket.tail : nodes_.at(node.next).previous) = slot;
    ++bucket.count;
    nodes_.emplace(slot, node);
    return node.group;
}

// A freed token is older than most that wait: look from the front; a new one goes to the end.
void Index::place_by_age(Bucket& bucket, Node& node) {
    Slot after = bucket.tail;
    if (after != no_slot && node.id < nodes_.at(after).id) {
        Slot before = bucket.head;
        while (nodes_.at(before).id < node.id)
            before = nodes_.at(before).next;
        after = nodes_.at(before).previous;
    }
    node.previous = after;
    node.next = after == no_slot ? bucket.head : nodes_.at(after).next;
}

void Index::place_by_rank(Bucket& bucket, Node& node, Slot slot, std::string rank) {
    Ranks& ranks = ranks_[*node.group];
    const auto at = ranks.emplace(std::pair{std::move(rank), node.id}, slot).first;
    node.rank = at;
    const auto after = std::next(at);
    node.next = after == ranks.end() ? no_slot : after->second;
    node.previous = node.next == no_slot ? bucket.tail : nodes_.at(node.next).previous;
}

void Index::unlink(Slot slot) {
    const auto found = nodes_.find(slot);
    if (found == nodes_.end()) return;
    const Node node = found->second;
    nodes_.erase(found);
    if (rules_.rank) {
        const auto ranks = ranks_.find(*node.group);
        ranks->second.erase(node.rank);
        if (ranks->second.empty()) ranks_.erase(ranks);
    }
    const auto entry = buckets_.find(*node.group);
    Bucket& bucket = entry->second;
    (node.previous == no_slot ? bucket.head : nodes_.at(node.previous).next) = node.next;
    (node.next == no_slot ? bucket.tail : nodes_.at(node.next).previous) = node.previous;
    if (--bucket.count == 0) buckets_.erase(entry);
}

Slot Index::first(base::CaseId case_id, std::string_view key) const {
    const auto found = buckets_.find(Group{rules_.by_case ? case_id.seq : 0, std::string(key)});
    return found == buckets_.end() ? no_slot : found->second.head;
}

Slot Index::last(base::CaseId case_id, std::string_view key) const {
    const auto found = buckets_.find(Group{rules_.by_case ? case_id.seq : 0, std::string(key)});
    return found == buckets_.end() ? no_slot : found->second.tail;
}

std::uint32_t Index::count(base::CaseId case_id, std::string_view key) const {
    const auto found = buckets_.find(Group{rules_.by_case ? case_id.seq : 0, std::string(key)});
    return found == buckets_.end() ? 0 : found->second.count;
}

Slot Index::next(Slot slot) const {
    const auto found = nodes_.find(slot);
    return found == nodes_.end() ? no_slot : found->second.next;
}

Slot Index::previous(Slot slot) const {
    const auto found = nodes_.find(slot);
    return found == nodes_.end() ? no_slot : found->second.previous;
}

std::string_view Index::rank(Slot slot) const {
    const auto found = nodes_.find(slot);
    if (!rules_.rank || found == nodes_.end()) return {};
    return found->second.rank->first.first;
}

const Index::Group* Index::group(Slot slot) const {
    const auto found = nodes_.find(slot);
    return found == nodes_.end() ? nullptr : found->second.group;
}

}  // namespace places
