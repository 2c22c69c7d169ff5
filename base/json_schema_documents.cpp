#include "base/json_schema_documents.hpp"

#include "base/json_schema_uri.hpp"

#include <charconv>
#include <fmt/format.h>

namespace base::schema {

namespace {

constexpr std::string_view draft7_uri = "http://json-schema.org/draft-07/schema";
constexpr std::string_view draft2020_12_uri = "https://json-schema.org/draft/2020-12/schema";
constexpr std::string_view vocabulary_prefix = "https://json-schema.org/draft/2020-12/vocab/";

std::string without_empty_fragment(std::string_view uri) {
    return std::string(uri.ends_with('#') ? uri.substr(0, uri.size() - 1) : uri);
}

bool anchor_name(std::string_view name) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    if (name.empty() || !letter(name.front())) return false;
    for (const char c : name) {
        if (!letter(c) && (c < '0' || c > '9') && c != '-' && c != '.' && c != ':') return false;
    }
    return true;
}

const std::string* text_member(const Json& schema, std::string_view keyword) {
    const auto found = schema.find(keyword);
    if (found == schema.end() || !found->is_string()) return nullptr;
    return found->get_ptr<const std::string*>();
}

// Says which vocabularies a metaschema wants; false when one that it requires is not known.
bool apply_vocabulary(Dialect& dialect, const std::string& uri, bool required) {
    const std::string_view name = uri.starts_with(vocabulary_prefix)
                                      ? std::string_view(uri).substr(vocabulary_prefix.size())
                                      : std::string_view();
    if (name == "applicator") {
        dialect.applicators = true;
    } else if (name == "unevaluated") {
        dialect.unevaluated = true;
    } else if (name == "validation") {
        dialect.validation = true;
    } else if (name == "format-assertion") {
        dialect.formats_asserted = true;
    } else if (name != "core" && name != "meta-data" && name != "format-annotation" &&
               name != "content") {
        return !required;
    }
    return true;
}

}  // namespace

void SchemaFaults::add(
    const Location& at, std::string_view keyword, ErrorCode code, std::string message
) {
    if (details_.size() >= faults_max_ && !details_.empty()) return;
    std::string pointer = keyword.empty() ? at.pointer : pointer_child(at.pointer, keyword);
    if (!at.document.empty()) {
        message = fmt::format("in the document {} at '{}': {}", at.document, pointer, message);
        pointer.clear();
    }
    ErrorDetail detail{std::move(pointer), code, std::move(message)};
    for (const auto& known : details_) {
        if (known == detail) return;
    }
    details_.push_back(std::move(detail));
}

Error SchemaFaults::error() const {
    const auto& first = details_.front();
    const std::string where = first.pointer.empty() ? "" : fmt::format(" at '{}'", first.pointer);
    return {
        ErrorCode::validation,
        details_.size() == 1
            ? fmt::format("the schema has a fault{}: {}", where, first.message)
            : fmt::format(
                  "the schema has {} faults; the first{}: {}", details_.size(), where, first.message
              ),
        "see the details for each place",
        details_
    };
}

void SchemaIndex::add_root(const Json& schema) {
    add_document(schema, "");
}

const Location& SchemaIndex::location(const Json& schema) const {
    const auto found = locations_.find(&schema);
    check(found != locations_.end(), "a schema that was never indexed");
    return found->second;
}

const Json* SchemaIndex::document(std::string_view uri) const {
    const Json* added = options_.documents == nullptr ? nullptr : options_.documents->find(uri);
    return added != nullptr ? added : metaschema(uri);
}

std::optional<ResourceId> SchemaIndex::resource_of(const std::string& uri) {
    if (const auto known = by_uri_.find(uri); known != by_uri_.end()) return known->second;
    const Json* found = document(uri);
    if (found == nullptr) return std::nullopt;
    return add_document(*found, uri);
}

std::optional<ResourceId> SchemaIndex::add_document(const Json& schema, const std::string& uri) {
    Location at{.resource = 0, .document = uri, .pointer = ""};
    std::string own = uri;
    if (const auto* id = schema.is_object() ? text_member(schema, "$id") : nullptr) {
        if (const auto resolved = resolve(uri, *id)) own = resolved->uri;
    }
    const auto resource = add_resource(schema, own, at);
    if (!resource) return std::nullopt;
    by_uri_.emplace(uri, *resource);
    at.resource = *resource;
    index(schema, std::move(at));
    return resource;
}

std::optional<ResourceId> SchemaIndex::add_resource(
    const Json& schema, const std::string& uri, const Location& at
) {
    if (const auto known = by_uri_.find(uri); known != by_uri_.end()) {
        if (resources_[known->second].root == &schema) return known->second;
        faults_.add(
            at, "$id", ErrorCode::conflict, fmt::format("'{}' is the $id of another schema", uri)
        );
        return std::nullopt;
    }
    Dialect inherited{.draft = options_.draft};
    if (!resources_.empty()) inherited = resources_[at.resource].dialect;
    Resource resource{
        .uri = uri, .root = &schema, .dialect = {}, .anchors = {}, .dynamic_anchors = {}
    };
    resource.dialect = dialect(schema, inherited, at, 0);
    resources_.push_back(std::move(resource));
    const auto id = static_cast<ResourceId>(resources_.size() - 1);
    by_uri_.emplace(uri, id);
    return id;
}

Dialect SchemaIndex::dialect(
    const Json& schema, const Dialect& inherited, const Location& at, int depth
) {
    const auto named = schema.is_object() ? schema.find("$schema") : schema.end();
    if (!schema.is_object() || named == schema.end()) return inherited;
    if (!named->is_string()) {
        faults_.add(at, "$schema", ErrorCode::validation, "must be a URI");
        return inherited;
    }
    const auto uri = without_empty_fragment(named->get_ref<const std::string&>());
    if (uri == draft2020_12_uri) return {.draft = SchemaDraft::draft2020_12};
    if (uri == draft7_uri || uri == "https" + std::string(draft7_uri.substr(4))) {
        return {.draft = SchemaDraft::draft7};
    }
    return custom_dialect(uri, at, depth);
}

Dialect SchemaIndex::custom_dialect(const std::string& uri, const Location& at, int depth) {
    constexpr int metaschemas_deep_max = 8;
    const Json* found = document(uri);
    if (found == nullptr || !found->is_object() || depth == metaschemas_deep_max) {
        faults_.add(
            at,
            "$schema",
            ErrorCode::unsupported,
            fmt::format("'{}' is no draft known here (2020-12 and draft-07 are)", uri)
        );
        return {.draft = options_.draft};
    }
    auto result = dialect(*found, {.draft = options_.draft}, at, depth + 1);
    const auto vocabularies = found->find("$vocabulary");
    if (vocabularies == found->end() || !vocabularies->is_object()) return result;
    result = {
        .draft = result.draft, .applicators = false, .unevaluated = false, .validation = false
    };
    for (const auto& [name, required] : vocabularies->items()) {
        if (apply_vocabulary(result, name, required == true)) continue;
        faults_.add(
            at,
            "$schema",
            ErrorCode::unsupported,
            fmt::format("'{}' requires the vocabulary '{}', which is not known here", uri, name)
        );
    }
    return result;
}

void SchemaIndex::index(const Json& schema, Location at) {
    if (locations_.contains(&schema)) return;
    if (locations_.size() >= options_.limits.subschemas_max) {
        faults_.add(
            at,
            "",
            ErrorCode::limit,
            fmt::format("more than {} schemas", options_.limits.subschemas_max)
        );
        return;
    }
    if (schema.is_object()) index_identifier(schema, at);
    locations_.emplace(&schema, at);
    if (at.document.empty()) root_schemas_.push_back(&schema);
    if (schema.is_object()) index_children(schema, at);
}

void SchemaIndex::index_identifier(const Json& schema, Location& at) {
    const bool draft7 = resources_[at.resource].dialect.draft == SchemaDraft::draft7;
    if (draft7 && schema.contains("$ref")) return;  // its siblings mean nothing
    const auto given = schema.find("$id");
    if (given != schema.end()) {
        const auto* id = text_member(schema, "$id");
        const auto resolved =
            id == nullptr ? std::nullopt : resolve(resources_[at.resource].uri, *id);
        if (!resolved) {
            faults_.add(at, "$id", ErrorCode::validation, "must be a URI reference");
            return;
        }
        if (!resolved->fragment.empty() && !draft7) {
            faults_.add(at, "$id", ErrorCode::validation, "must have no fragment; use $anchor");
        }
        const bool only_fragment = id->starts_with('#');
        if (!only_fragment && resources_[at.resource].root != &schema) {
            if (const auto added = add_resource(schema, resolved->uri, at)) at.resource = *added;
        }
        if (draft7 && !resolved->fragment.empty())
            add_anchor(schema, at, resolved->fragment, false);
    }
    index_anchor(schema, at, "$anchor");
    index_anchor(schema, at, "$dynamicAnchor");
}

void SchemaIndex::index_anchor(const Json& schema, const Location& at, std::string_view keyword) {
    if (!active(resources_[at.resource].dialect, keyword)) return;
    const auto given = schema.find(keyword);
    if (given == schema.end()) return;
    const auto* name = given->get_ptr<const std::string*>();
    if (name == nullptr || !anchor_name(*name)) {
        faults_.add(at, keyword, ErrorCode::validation, "must be a name like 'item' or 'a-1.b'");
        return;
    }
    add_anchor(schema, at, *name, keyword == "$dynamicAnchor");
}

void SchemaIndex::add_anchor(
    const Json& schema, const Location& at, std::string_view name, bool dynamic
) {
    auto& resource = resources_[at.resource];
    const auto [anchor, fresh] = resource.anchors.emplace(name, &schema);
    if (!fresh && anchor->second != &schema) {
        faults_.add(
            at, "", ErrorCode::conflict, fmt::format("the anchor '{}' is given twice", name)
        );
    }
    if (dynamic) resource.dynamic_anchors.emplace(name, &schema);
}

void SchemaIndex::index_children(const Json& schema, const Location& at) {
    const auto draft = resources_[at.resource].dialect.draft;
    for (const auto& [name, value] : schema.items()) {
        const auto* known = keyword(draft, name);
        if (known == nullptr || known->shape == Shape::none) continue;
        Location below = at;
        below.pointer = pointer_child(at.pointer, name);
        const bool list = known->shape == Shape::list ||
                          (known->shape == Shape::schema_or_list && value.is_array());
        const bool map =
            known->shape == Shape::map || known->shape == Shape::map_of_schemas_or_strings;
        if (!list && !map) {
            index(value, std::move(below));
        } else if ((list && value.is_array()) || (map && value.is_object())) {
            for (const auto& [key, child] : value.items()) {
                if (known->shape == Shape::map_of_schemas_or_strings && child.is_array()) continue;
                Location inner = below;
                inner.pointer = pointer_child(below.pointer, key);
                index(child, std::move(inner));
            }
        }
    }
}

std::optional<ReferenceTarget> SchemaIndex::find(
    const Location& from, std::string_view keyword, std::string_view reference
) {
    const auto unresolved = [&](std::string_view why) {
        faults_.add(from, keyword, ErrorCode::not_found, fmt::format("'{}' {}", reference, why));
        return std::nullopt;
    };
    const auto resolved = resolve(resources_[from.resource].uri, reference);
    if (!resolved) return unresolved("is no URI reference");
    const auto id = resource_of(resolved->uri);
    if (!id) {
        return unresolved(fmt::format(
            "refers to '{}', which is neither in this schema nor among the documents given with "
            "it; "
            "nothing is fetched",
            resolved->uri
        ));
    }
    const auto& fragment = resolved->fragment;
    if (fragment.empty()) return ReferenceTarget{resources_[*id].root, ""};
    if (fragment.front() == '/') {
        const auto* found = walk(from, resources_[*id], fragment);
        if (found == nullptr) return unresolved("refers to a place that does not exist");
        return ReferenceTarget{found, ""};
    }
    const auto& resource = resources_[*id];
    const auto anchor = resource.anchors.find(fragment);
    if (anchor == resource.anchors.end()) return unresolved("names an anchor that does not exist");
    return ReferenceTarget{
        anchor->second, resource.dynamic_anchors.contains(fragment) ? fragment : ""
    };
}

const Json* SchemaIndex::walk(
    const Location& from, const Resource& resource, std::string_view pointer
) {
    const Json* at = resource.root;
    Location where = locations_.contains(at) ? location(*at) : from;
    while (!pointer.empty()) {
        pointer.remove_prefix(1);
        const auto end = std::min(pointer.find('/'), pointer.size());
        const auto token = unescaped_token(pointer.substr(0, end));
        pointer.remove_prefix(end);
        if (!token) return nullptr;
        if (at->is_object()) {
            const auto found = at->find(*token);
            if (found == at->end()) return nullptr;
            at = &*found;
        } else if (at->is_array()) {
            std::size_t number = 0;
            const auto* last = token->data() + token->size();
            const auto read = std::from_chars(token->data(), last, number);
            if (read.ec != std::errc() || read.ptr != last || number >= at->size()) return nullptr;
            at = &(*at)[number];
        } else {
            return nullptr;
        }
        where.pointer = pointer_child(where.pointer, *token);
        if (locations_.contains(at)) where = location(*at);
    }
    index(*at, std::move(where));
    return locations_.contains(at) ? at : nullptr;
}

}  // namespace base::schema
