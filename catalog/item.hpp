#pragma once

#include "base/ids.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace catalog {

/// The model that holds the global catalog.
inline constexpr std::string_view global_model = "default";
inline constexpr std::string_view catalog_place = "p-tool-catalog";
/// Every version ever registered, immutable.
inline constexpr std::string_view versions_place = "p-tool-versions";

inline constexpr std::size_t script_bytes_max = std::size_t{1} << 20U;

/// Ids of tools: segments `[a-z][a-z0-9_-]*` joined by dots, at most 128 characters, no `__`.
bool valid_tool_id(std::string_view id);

/// One definition of a tool, as its token holds it. Immutable.
struct Item {
    std::string id;
    std::string entry;         ///< canonical JSON: see docs/http-api.md
    std::string version;       ///< label, e.g. 1.0.0
    std::string version_hash;  ///< sha256 over all but label, status, lifecycle, signals
    std::string type;          ///< of the binding: script | builtin
    std::string status;
    std::string lifecycle;
    std::vector<std::string> capabilities;
    std::string text;       ///< lower-case: what search looks into
    std::string name_text;  ///< lower-case id and name
    base::TokenId token;
    base::Seq seq = 0;  ///< of the record that registered it
};
using ItemPtr = std::shared_ptr<const Item>;  // shared: readers keep what they found

/// Reads a token's data back. Nothing when it is no entry.
std::optional<Item> read_item(std::string_view entry, base::TokenId token);

/// A request to register a script, checked: `{id, name, runtime, content | contentBase64, version?,
/// description?, model?, effect?, capabilities?, contract?, caps?, network?}`.
struct ScriptRegistration {
    std::string model;  ///< "" = not said
    std::string content;
    base::Digest sha256;
    std::optional<std::string> version;  ///< label asked for
    std::optional<std::string> expected_version;
    base::Json entry() const;                  ///< without `version`
    std::shared_ptr<const base::Json> fields;  // shared: Json is incomplete here
};
/// Every fault at once, each with its pointer.
base::Result<ScriptRegistration> read_script_registration(const base::Json& body);

/// The hash that names a version.
std::string version_hash(const base::Json& entry);

/// `1.2.3` -> `1.2.4`; a label of another shape gets `.1` behind it.
std::string next_version(std::string_view label);

}  // namespace catalog
