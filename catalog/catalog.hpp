#pragma once

#include "base/guarded.hpp"
#include "base/worker_pool.hpp"
#include "blobstore/store.hpp"
#include "catalog/item.hpp"
#include "engine/engine.hpp"

#include <boost/unordered/unordered_flat_map.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace catalog {

/// Where an item was found, seen from a model.
struct Found {
    ItemPtr item;
    std::string model;  ///< that holds it
    bool global = false;
    bool shadowed = false;  ///< a local one of the same id hides it
};

struct Query {
    std::string model = std::string(global_model);
    std::string text;  ///< ranked over id, name, description, capabilities, examples
    std::string type;  ///< of the binding; empty = all
    std::string status;
    std::string lifecycle;
    std::string capability;
    std::size_t limit = 100;  ///< 1 to 1000
    std::size_t offset = 0;   ///< from the cursor
};
struct Page {
    std::vector<Found> items;
    bool more = false;
};

/// The catalogs of all models, derived from the tokens in their `p-tool-catalog`: a mirror that is
/// rebuilt when a model is opened and changed only by `record`. Thread-safe; reading creates
/// nothing. A model that never registered anything has no catalog of its own.
class Catalog {
public:
    /// Takes in the whole catalog of a model. On its strand.
    void opened(const engine::Model& model);

    /// Local first, then global.
    [[nodiscard]] std::optional<Found> resolve(std::string_view model, std::string_view id) const;
    /// A local entry and the global one of the same id both, the shadowed one marked.
    [[nodiscard]] Page search(const Query& query) const;
    /// Versions of one tool in one model's own catalog, the oldest first, with their entries.
    [[nodiscard]] static std::vector<Item> versions(
        const engine::Model& model, std::string_view id
    );
    [[nodiscard]] std::optional<Item> version(
        std::string_view model, std::string_view id, std::string_view version_hash
    ) const;

    /// Registers (upsert by id) on the model's strand: a no-op on identical content, `conflict`
    /// when `expected_version` is not the current hash. The blob must be pinned by the caller until
    /// the record is durable.
    base::Result<ItemPtr> record(
        engine::Model& model,
        base::Json entry,
        std::optional<std::string> label,
        std::optional<std::string> expected_version,
        const engine::Asker& asker
    );

private:
    struct Local {
        boost::unordered_flat_map<std::string, ItemPtr> items;
        boost::unordered_flat_map<std::string, std::vector<ItemPtr>> versions;  ///< oldest first
    };
    base::Guarded<std::map<std::string, Local, std::less<>>> models_;
};

/// The item as the API shows it: the entry and `{scope, model, shadowed, versionHash}`.
std::string item_json(const Found& found);

}  // namespace catalog
