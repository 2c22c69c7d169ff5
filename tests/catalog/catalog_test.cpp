#include "catalog/catalog.hpp"

#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using base::Json;
using catalog::Catalog;

namespace {

struct OpenModel {
    engine::Model model;
    explicit OpenModel(std::string name) : model(std::move(name)) {
        model.take_over(1);
        model.go_live({1'000'000});
    }
};

engine::Asker asker() {
    return {.actor = "test", .now = {2'000'000}};
}

Json entry(std::string id, std::string content, std::string description = "") {
    const auto script = catalog::read_script_registration(
        {{"id", std::move(id)},
         {"name", "A tool"},
         {"runtime", "sh"},
         {"content", std::move(content)},
         {"description", std::move(description)}}
    );
    REQUIRE(script);
    return script->entry();
}

catalog::ItemPtr put(
    Catalog& catalog, OpenModel& in, Json tool, std::optional<std::string> expected = {}
) {
    const auto item =
        catalog.record(in.model, std::move(tool), std::nullopt, std::move(expected), asker());
    REQUIRE_MESSAGE(item, (item ? "" : item.error().message));
    return *item;
}

}  // namespace

TEST_CASE("a local tool shadows a global one of the same id, for its own model only") {
    Catalog catalog;
    OpenModel global("default");
    OpenModel team("team");
    put(catalog, global, entry("greet", "echo global"));
    put(catalog, team, entry("greet", "echo local"));
    CHECK_FALSE(catalog.resolve("team", "greet")->global);
    CHECK(catalog.resolve("other", "greet")->global);
    const auto page = catalog.search({.model = "team"});
    REQUIRE(page.items.size() == 2);
    CHECK_FALSE(page.items[0].global);
    CHECK_FALSE(page.items[0].shadowed);
    CHECK(page.items[1].shadowed);
    CHECK(catalog.search({.model = "other"}).items.size() == 1);
}

TEST_CASE(
    "identical content changes nothing, other content is the next version, and the old one stays"
) {
    Catalog catalog;
    OpenModel global("default");
    const auto first = put(catalog, global, entry("greet", "echo 1"));
    const auto seq = global.model.state().seq;
    CHECK(put(catalog, global, entry("greet", "echo 1"))->version_hash == first->version_hash);
    CHECK(global.model.state().seq == seq);
    const auto second = put(catalog, global, entry("greet", "echo 2"), first->version_hash);
    CHECK(second->version == "1.0.1");
    CHECK(Catalog::versions(global.model, "greet").size() == 2);
    CHECK(catalog.version("default", "greet", first->version_hash)->entry == first->entry);
    const auto late = catalog.record(
        global.model, entry("greet", "echo 3"), std::nullopt, first->version_hash, asker()
    );
    REQUIRE_FALSE(late);
    CHECK(late.error().code == base::ErrorCode::conflict);
}

TEST_CASE("a catalog reads back from the tokens of a model") {
    Catalog catalog;
    OpenModel global("default");
    const auto item = put(catalog, global, entry("greet", "echo 1"));
    Catalog again;
    again.opened(global.model);
    CHECK(again.resolve("default", "greet")->item->version_hash == item->version_hash);
    CHECK(again.search({.text = "greet"}).items.size() == 1);
}

TEST_CASE("search ranks an id above a name above a description, and takes all words") {
    Catalog catalog;
    OpenModel global("default");
    put(catalog, global, entry("a-tool", "1", "digests an order"));
    put(catalog, global, entry("digest", "2", "of an order"));
    put(catalog, global, entry("other", "3", "nothing"));
    const auto page = catalog.search({.text = "digest"});
    REQUIRE(page.items.size() == 2);
    CHECK(page.items[0].item->id == "digest");
    CHECK(catalog.search({.text = "digest order"}).items.size() == 2);
    CHECK(catalog.search({.text = "digest moon"}).items.empty());
    CHECK(catalog.search({.type = "builtin"}).items.empty());
}

TEST_CASE("a registration names every fault at once, with its pointer") {
    const auto bad = catalog::read_script_registration(
        {{"id", "Bad__id"},
         {"runtime", "perl"},
         {"content", ""},
         {"colour", "red"},
         {"caps", {{"wallMs", 0}, {"speed", 1}}}}
    );
    REQUIRE_FALSE(bad);
    std::vector<std::string> pointers;
    for (const auto& detail : bad.error().details)
        pointers.push_back(detail.pointer);
    for (const char* wanted :
         {"/colour", "/id", "/runtime", "/name", "/content", "/caps/wallMs", "/caps/speed"}) {
        CHECK_MESSAGE(std::ranges::find(pointers, wanted) != pointers.end(), wanted);
    }
}

TEST_CASE("ids of tools are segments joined by dots") {
    for (const char* good : {"a", "forum-sentinel", "a.b_c.d9"})
        CHECK_MESSAGE(catalog::valid_tool_id(good), good);
    for (const char* bad : {"", ".", "a.", ".a", "A", "a__b", "9a", "a b", "a..b"})
        CHECK_FALSE_MESSAGE(catalog::valid_tool_id(bad), bad);
}
