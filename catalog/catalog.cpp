#include "catalog/catalog.hpp"

#include "base/limits.hpp"
#include "base/log.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace catalog {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

template <class Action>
void each_token(const engine::State& state, std::string_view place, Action&& action) {
    const auto id = state.place({"", std::string(place)});
    if (!id) return;
    for (auto slot = state.store.first_in(*id); slot != places::no_slot;
         slot = state.store.next_in_place(slot)) {
        action(state.store.token(slot));
    }
}

// How well an item answers the words asked for: all must occur somewhere; id and name weigh most.
int score(const Item& item, const std::vector<std::string>& words) {
    int total = 0;
    for (const auto& word : words) {
        int best = 0;
        if (item.id == word) {
            best = 100;
        } else if (item.id.starts_with(word)) {
            best = 40;
        } else if (item.name_text.find(word) != std::string::npos) {
            best = 20;
        } else if (item.text.find(word) != std::string::npos) {
            best = 5;
        }
        if (best == 0) return 0;
        total += best;
    }
    return total;
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    std::string word;
    for (char c : text) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == ' ' || c == '\t' || c == '\n' || c == ',') {
            if (!word.empty()) words.push_back(std::exchange(word, {}));
        } else {
            word += c;
        }
    }
    if (!word.empty()) words.push_back(std::move(word));
    return words;
}

bool wanted(const Item& item, const Query& query) {
    if (!query.type.empty() && item.type != query.type) return false;
    if (!query.status.empty() && item.status != query.status) return false;
    if (!query.lifecycle.empty() && item.lifecycle != query.lifecycle) return false;
    return query.capability.empty() ||
           std::ranges::find(item.capabilities, query.capability) != item.capabilities.end();
}

}  // namespace

void Catalog::opened(const engine::Model& model) {
    Local local;
    const auto each_item = [&](std::string_view place, auto&& take) {
        each_token(model.state(), place, [&](const places::Token& token) {
            if (auto item = read_item(token.data.view(), token.id))
                return take(std::make_shared<const Item>(std::move(*item)));
            base::log_error(fmt::format(
                "model '{}': token {} in '{}' is not an entry of a tool, and is left out",
                model.state().model,
                text(token.id),
                place
            ));
        });
    };
    each_item(versions_place, [&](ItemPtr item) {
        auto& versions = local.versions[item->id];
        versions.push_back(std::move(item));
    });
    each_item(catalog_place, [&](ItemPtr item) {
        auto& current = local.items[item->id];
        current = std::move(item);
    });
    models_.with([&](auto& models) {
        if (local.items.empty() && local.versions.empty()) {
            models.erase(model.state().model);
        } else {
            models[model.state().model] = std::move(local);
        }
    });
}

std::optional<Found> Catalog::resolve(std::string_view model, std::string_view id) const {
    return models_.with([&](const auto& models) -> std::optional<Found> {
        for (const std::string_view holder : {model, global_model}) {
            const auto local = models.find(holder);
            if (local == models.end()) continue;
            const auto item = local->second.items.find(std::string(id));
            if (item == local->second.items.end()) continue;
            return Found{item->second, std::string(holder), holder == global_model, false};
        }
        return std::nullopt;
    });
}

Page Catalog::search(const Query& query) const {
    const auto words = words_of(query.text);
    std::vector<std::pair<int, Found>> hits;
    models_.with([&](const auto& models) {
        const auto own = models.find(query.model);
        const bool global_only = query.model == global_model;
        const auto collect = [&](std::string_view holder) {
            const auto local = models.find(holder);
            if (local == models.end()) return;
            const bool global = holder == global_model;
            for (const auto& [id, item] : local->second.items) {
                const int rank = words.empty() ? 1 : score(*item, words);
                if (rank == 0 || !wanted(*item, query)) continue;
                const bool shadowed =
                    global && !global_only && own != models.end() && own->second.items.contains(id);
                hits.emplace_back(rank, Found{item, std::string(holder), global, shadowed});
            }
        };
        if (!global_only) collect(query.model);
        collect(global_model);
    });
    const auto before = [](const auto& left, const auto& right) {
        if (left.first != right.first) return left.first > right.first;
        if (left.second.item->id != right.second.item->id)
            return left.second.item->id < right.second.item->id;
        return left.second.global < right.second.global;
    };
    Page page;
    const std::size_t end = std::min(hits.size(), query.offset + query.limit);
    if (query.offset >= hits.size()) return page;
    std::ranges::partial_sort(hits, hits.begin() + static_cast<std::ptrdiff_t>(end), before);
    for (std::size_t i = query.offset; i < end; ++i)
        page.items.push_back(std::move(hits[i].second));
    page.more = end < hits.size();
    return page;
}

std::vector<Item> Catalog::versions(const engine::Model& model, std::string_view id) {
    std::vector<Item> found;
    each_token(model.state(), versions_place, [&](const places::Token& token) {
        auto item = read_item(token.data.view(), token.id);
        if (item && item->id == id) found.push_back(std::move(*item));
    });
    return found;
}

std::optional<Item> Catalog::version(
    std::string_view model, std::string_view id, std::string_view hash
) const {
    return models_.with([&](const auto& models) -> std::optional<Item> {
        for (const std::string_view holder : {model, global_model}) {
            const auto local = models.find(holder);
            if (local == models.end()) continue;
            const auto versions = local->second.versions.find(std::string(id));
            if (versions == local->second.versions.end()) continue;
            for (const auto& item : versions->second) {
                if (item->version_hash == hash || item->version == hash) return *item;
            }
        }
        return std::nullopt;
    });
}

Result<ItemPtr> Catalog::record(
    engine::Model& model,
    Json entry,
    std::optional<std::string> label,
    std::optional<std::string> expected_version,
    const engine::Asker& asker
) {
    const std::string id = entry.at("id");
    const std::string& name = model.state().model;
    const std::string hash = version_hash(entry);
    ItemPtr current = models_.with([&](const auto& models) -> ItemPtr {
        const auto local = models.find(name);
        if (local == models.end()) return nullptr;
        const auto item = local->second.items.find(id);
        return item == local->second.items.end() ? nullptr : item->second;
    });
    if (expected_version && (!current || current->version_hash != *expected_version)) {
        return fail(
            ErrorCode::conflict,
            fmt::format(
                "tool '{}' is at version {}, not {}",
                id,
                current ? current->version_hash : "(none)",
                *expected_version
            ),
            "read it again, and register against the version that you saw"
        );
    }
    if (current && current->version_hash == hash && (!label || *label == current->version))
        return current;
    const bool label_used = label && version(name, id, *label).has_value();
    if (!label) label = current ? next_version(current->version) : "1.0.0";
    while (label_used && version(name, id, *label))
        label = next_version(*label);
    entry["version"] = *label;
    const std::string text = base::canonical(entry);
    if (text.size() > base::limits::tool_entry_bytes_max) {
        return fail(
            ErrorCode::too_large,
            fmt::format(
                "the entry of tool '{}' has {} bytes; the limit is {}",
                id,
                text.size(),
                base::limits::tool_entry_bytes_max
            ),
            "shorten its contract: schemas and examples"
        );
    }
    auto read = read_item(text, {});
    if (!read) return fail(ErrorCode::validation, fmt::format("tool '{}' has no entry", id));
    engine::Change change;
    change.type = current ? engine::EventType::tool_changed : engine::EventType::tool_registered;
    if (current) change.consumed.push_back(current->token);
    change.produced.emplace_back(std::string(catalog_place), text);
    change.produced.emplace_back(std::string(versions_place), text);
    change.info = base::canonical(Json{{"toolId", id}, {"version", *label}, {"versionHash", hash}});
    const auto seq = engine::write(model, change, asker);
    read->token = {seq, 0};
    read->seq = seq;
    const auto item = std::make_shared<const Item>(std::move(*read));
    models_.with([&](auto& models) {
        models[name].items[id] = item;
        models[name].versions[id].push_back(item);
    });
    return item;
}

std::string item_json(const Found& found) {
    // `read_item` read it before.
    auto parsed = base::parse_json(found.item->entry, base::limits::stored);
    Json entry = parsed && parsed->is_object() ? std::move(*parsed) : Json::object();
    entry["scope"] = found.global ? "global" : "local";
    entry["model"] = found.model;
    entry["shadowed"] = found.shadowed;
    entry["versionHash"] = found.item->version_hash;
    return base::canonical(entry);
}

}  // namespace catalog
