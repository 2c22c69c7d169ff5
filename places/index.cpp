#include "places/index.hpp"

#include <utility>

namespace places {

const Index::Group* Index::link(Slot slot, const Token& token) {
    auto key = classify_(token);
    if (!key) return nullptr;
    const auto entry =
        buckets_.try_emplace(Group{by_case_ ? token.case_id.seq : 0, std::move(*key)}).first;
    Bucket& bucket = entry->second;
    Node node{.group = &entry->first, .id = token.id};
    // A freed token is older than most that wait: look from the front; a new one goes to the end.
    Slot after = bucket.tail;
    if (after != no_slot && token.id < nodes_.at(after).id) {
        Slot before = bucket.head;
        while (nodes_.at(before).id < token.id)
            before = nodes_.at(before).next;
        after = nodes_.at(before).previous;
    }
    node.previous = after;
    node.next = after == no_slot ? bucket.head : nodes_.at(after).next;
    (node.previous == no_slot ? bucket.head : nodes_.at(node.previous).next) = slot;
    (node.next == no_slot ? bucket.tail : nodes_.at(node.next).previous) = slot;
    ++bucket.count;
    nodes_.emplace(slot, node);
    return node.group;
}

void Index::unlink(Slot slot) {
    const auto found = nodes_.find(slot);
    if (found == nodes_.end()) return;
    const Node node = found->second;
    nodes_.erase(found);
    const auto entry = buckets_.find(*node.group);
    Bucket& bucket = entry->second;
    (node.previous == no_slot ? bucket.head : nodes_.at(node.previous).next) = node.next;
    (node.next == no_slot ? bucket.tail : nodes_.at(node.next).previous) = node.previous;
    if (--bucket.count == 0) buckets_.erase(entry);
}

Slot Index::first(base::CaseId case_id, std::string_view key) const {
    const auto found = buckets_.find(Group{by_case_ ? case_id.seq : 0, std::string(key)});
    return found == buckets_.end() ? no_slot : found->second.head;
}

std::uint32_t Index::count(base::CaseId case_id, std::string_view key) const {
    const auto found = buckets_.find(Group{by_case_ ? case_id.seq : 0, std::string(key)});
    return found == buckets_.end() ? 0 : found->second.count;
}

Slot Index::next(Slot slot) const {
    const auto found = nodes_.find(slot);
    return found == nodes_.end() ? no_slot : found->second.next;
}

const Index::Group* Index::group(Slot slot) const {
    const auto found = nodes_.find(slot);
    return found == nodes_.end() ? nullptr : found->second.group;
}

}  // namespace places
