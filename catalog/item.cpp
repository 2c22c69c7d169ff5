#include "catalog/item.hpp"

#include "base/limits.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace catalog {

using base::Json;

namespace {

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    return made;
}

std::string text_of(const Json& entry, const char* key) {
    const auto found = entry.find(key);
    return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

}  // namespace

bool valid_tool_id(std::string_view id) {
    if (id.empty() || id.size() > 128 || id.find("__") != std::string_view::npos) return false;
    bool first = true;  // of a segment
    for (const char c : id) {
        if (c == '.') {
            if (first) return false;
            first = true;
            continue;
        }
        const bool letter = c >= 'a' && c <= 'z';
        if (first && !letter) return false;
        if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') return false;
        first = false;
    }
    return !first;
}

std::string version_hash(const Json& entry) {
    Json hashed = entry;
    for (const char* key : {"version", "status", "lifecycle", "signals"})
        hashed.erase(key);
    return base::sha256(base::canonical(hashed)).hex();
}

std::string next_version(std::string_view label) {
    const auto dot = label.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? label : label.substr(dot + 1);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), number);
    if (error != std::errc{} || end != last.data() + last.size()) return std::string(label) + ".1";
    return std::string(label.substr(0, label.size() - last.size())) + std::to_string(number + 1);
}

std::optional<Item> read_item(std::string_view text, base::TokenId token) {
    const auto entry = base::parse_json(text, base::limits::stored);
    if (!entry || !entry->is_object() || !entry->contains("id") || !entry->contains("binding")) {
        return std::nullopt;
    }
    Item item;
    item.id = text_of(*entry, "id");
    item.entry = text;
    item.version = text_of(*entry, "version");
    item.version_hash = version_hash(*entry);
    item.type = text_of(entry->at("binding"), "type");
    item.status = text_of(*entry, "status");
    item.lifecycle = text_of(*entry, "lifecycle");
    if (const auto list = entry->find("capabilities"); list != entry->end() && list->is_array()) {
        for (const auto& capability : *list) {
            if (capability.is_string()) item.capabilities.push_back(capability.get<std::string>());
        }
    }
    item.name_text = lower(item.id + " " + text_of(*entry, "name"));
    item.text = lower(text_of(*entry, "description"));
    for (const auto& capability : item.capabilities)
        item.text += " " + lower(capability);
    if (const auto contract = entry->find("contract");
        contract != entry->end() && contract->is_object()) {
        if (const auto examples = contract->find("examples"); examples != contract->end()) {
            item.text += " " + lower(examples->dump());
        }
    }
    item.token = token;
    item.seq = token.seq;
    return item;
}

}  // namespace catalog
