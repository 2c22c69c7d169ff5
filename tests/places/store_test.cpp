#include "places/store.hpp"

#include <doctest/doctest.h>

#include <vector>

using places::Index;
using places::no_slot;
using places::Payload;
using places::Slot;
using places::Store;
using places::Token;

namespace {

Token token(
    base::Seq seq, places::PlaceId place, base::Seq case_seq = 0, std::string_view data = "1"
) {
    Token made;
    made.id = {seq, 0};
    made.place = place;
    made.case_id = {case_seq};
    made.data = Payload::make(data);
    return made;
}

std::vector<base::Seq> bindable(const Store& store, places::PlaceId place, base::Seq case_seq = 0) {
    std::vector<base::Seq> seqs;
    for (Slot slot = store.first_bindable(place, {case_seq}); slot != no_slot;
         slot = store.next_bindable(slot)) {
        seqs.push_back(store.token(slot).id.seq);
    }
    return seqs;
}

}  // namespace

TEST_CASE("tokens of a case are bindable first in, first out") {
    Store store;
    const auto place = store.add_place({.name = "p"});
    store.add(token(1, place, 7));
    store.add(token(2, place, 8));
    store.add(token(3, place, 7));
    CHECK(bindable(store, place, 7) == std::vector<base::Seq>{1, 3});
    CHECK(bindable(store, place, 8) == std::vector<base::Seq>{2});
    CHECK(store.count_bindable(place, {7}) == 2);
}

TEST_CASE(
    "a reserved token is bindable by nobody until it is released, then at its old place in the "
    "queue"
) {
    Store store;
    const auto place = store.add_place({.name = "p"});
    std::vector<Slot> slots;
    for (base::Seq seq = 1; seq <= 4; ++seq)
        slots.push_back(store.add(token(seq, place)));
    store.reserve(slots[0], 10);
    store.reserve(slots[2], 11);
    CHECK(bindable(store, place) == std::vector<base::Seq>{2, 4});
    CHECK(store.place(place).reserved == 2);
    store.release(slots[2]);
    CHECK(bindable(store, place) == std::vector<base::Seq>{2, 3, 4});
    store.release(slots[0]);
    CHECK(bindable(store, place) == std::vector<base::Seq>{1, 2, 3, 4});
    CHECK(store.place(place).reserved == 0);
}

TEST_CASE("a delayed token counts at once and is bindable only when revealed") {
    Store store;
    const auto place = store.add_place({.name = "p", .capacity = 1});
    Token late = token(1, place);
    late.visible_at = {5};
    late.hidden = true;
    const Slot slot = store.add(std::move(late));
    CHECK(bindable(store, place).empty());
    CHECK_FALSE(store.place(place).has_room(1));
    store.reveal(slot);
    CHECK(bindable(store, place) == std::vector<base::Seq>{1});
}

TEST_CASE("removing from the middle keeps the order of the place") {
    Store store;
    const auto place = store.add_place({.name = "p"});
    std::vector<Slot> slots;
    for (base::Seq seq = 1; seq <= 3; ++seq)
        slots.push_back(store.add(token(seq, place)));
    store.remove(slots[1]);
    CHECK(store.find({2, 0}) == no_slot);
    store.add(token(4, place));
    std::vector<base::Seq> seen;
    for (Slot slot = store.first_in(place); slot != no_slot; slot = store.next_in_place(slot)) {
        seen.push_back(store.token(slot).id.seq);
    }
    CHECK(seen == std::vector<base::Seq>{1, 3, 4});
    CHECK(store.size() == 3);
    CHECK(store.place(place).count == 3);
}

TEST_CASE("an index groups by case and key and leaves out what its filter refuses") {
    Store store;
    const auto place = store.add_place({.name = "p"});
    store.add(token(1, place, 7, "a"));
    const auto by_data = [](const Token& t) -> std::optional<std::string> {
        if (t.data.view() == "x") return std::nullopt;
        return std::string(t.data.view());
    };
    Index* index = store.add_index(place, {.classify = by_data});
    const Slot second = store.add(token(2, place, 7, "a"));
    store.add(token(3, place, 8, "a"));
    store.add(token(4, place, 7, "x"));
    CHECK(index->count({7}, "a") == 2);
    CHECK(index->count({8}, "a") == 1);
    CHECK(index->first({7}, "x") == no_slot);
    CHECK(index->next(index->first({7}, "a")) == second);
    store.reserve(index->first({7}, "a"), 5);
    CHECK(index->first({7}, "a") == second);
    store.release(store.find({1, 0}));
    CHECK(index->next(index->first({7}, "a")) == second);
}

TEST_CASE("an index by rank sorts its groups, equals by age, and leaves out what has no rank") {
    Store store;
    const auto place = store.add_place({.name = "p"});
    Index* index = store.add_index(
        place,
        {.classify = [](const Token&) -> std::optional<std::string> { return ""; },
         .rank = [](const Token& t) -> std::optional<std::string> {
             if (t.data.view() == "x") return std::nullopt;
             return std::string(t.data.view());
         }}
    );
    for (base::Seq seq = 1; const char* rank : {"c", "a", "x", "b", "a", "d"})
        store.add(token(seq++, place, 7, rank));
    const auto seen = [&] {
        std::string ranks;
        for (Slot slot = index->first({7}, ""); slot != no_slot; slot = index->next(slot))
            ranks += std::string(index->rank(slot)) + std::to_string(store.token(slot).id.seq);
        return ranks;
    };
    CHECK(seen() == "a2a5b4c1d6");
    store.reserve(store.find({2, 0}), 9);
    store.remove(store.find({6, 0}));
    CHECK(seen() == "a5b4c1");
    store.release(store.find({2, 0}));
    CHECK(seen() == "a2a5b4c1");
}

TEST_CASE("an index of visible tokens holds reserved ones too, and delayed ones once they show") {
    Store store;
    const auto place = store.add_place({.name = "p"});
    const auto any = [](const Token&) -> std::optional<std::string> { return ""; };
    Index* visible = store.add_index(place, {.held = places::Held::visible, .classify = any});
    const Slot plain = store.add(token(1, place, 7));
    auto late = token(2, place, 7);
    late.hidden = true;
    const Slot hidden = store.add(std::move(late));
    store.reserve(plain, 5);
    CHECK(visible->count({7}, "") == 1);
    store.reveal(hidden);
    CHECK(visible->count({7}, "") == 2);
    store.remove(plain);
    store.remove(hidden);
    CHECK(visible->size() == 0);
}

TEST_CASE("changes are told only while they are recorded") {
    Store store;
    const auto place = store.add_place({.name = "p", .capacity = 9});
    store.add(token(1, place));
    CHECK(store.changes().empty());
    store.record_changes(true);
    const Slot slot = store.add(token(2, place, 3));
    store.remove(slot);
    REQUIRE(store.changes().size() == 2);
    CHECK(store.changes()[0].kind == places::Change::Kind::bindable);
    CHECK(store.changes()[0].case_id.seq == 3);
    CHECK(store.changes()[1].kind == places::Change::Kind::room);
}
