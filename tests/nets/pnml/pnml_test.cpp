#include "nets/pnml/pnml.hpp"

#include "tests/nets/pnml/corpus.hpp"

#include <doctest/doctest.h>

#include <string>

using nets::pnml::Document;
using nets::pnml::read;
using nets::pnml::write;

namespace {

std::string net_of(const std::string& inside) {
    return R"(<?xml version="1.0"?><pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">)"
           R"(<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">)" +
           inside + "</net></pnml>";
}

std::string first_fault(const std::string& xml) {
    const auto result = read(xml);
    REQUIRE_FALSE(result);
    return result.error().message;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("every net of the corpus is the same after export and import") {
    for (const auto& net : pnml_corpus::cases()) {
        CAPTURE(net.name);
        const auto first = read(net.xml);
        REQUIRE_MESSAGE(first, (first ? "" : first.error().message));
        const auto xml = write(*first);
        REQUIRE(xml);
        const auto second = read(*xml);
        REQUIRE(second);
        CHECK(*first == *second);
        CHECK(write(*second) == xml);
    }
}

TEST_CASE("pages are joined and reference nodes stand for what they refer to") {
    const auto document = read(net_of(R"(
        <name><text> two
          pages </text></name>
        <page id="one">
          <place id="p"><name><text>the place</text></name>
            <initialMarking><text> 3 </text></initialMarking>
            <graphics><position x="1.5" y="-2"/><fill color="red"/></graphics></place>
          <transition id="t"/>
          <arc id="a" source="p" target="t"/>
          <page id="two">
            <referencePlace id="r" ref="q"/><referencePlace id="q" ref="p"/>
            <referenceTransition id="u" ref="t"/>
            <arc id="b" source="r" target="u"><inscription><text>2</text></inscription></arc>
            <arc id="c" source="u" target="q"/>
          </page>
          <toolspecific tool="x" version="1"><anything><place/></anything></toolspecific>
        </page>)"));
    REQUIRE_MESSAGE(document, (document ? "" : document.error().message));
    const auto& net = document->net;
    CHECK(net.name == "two pages");
    REQUIRE(net.places.size() == 1);
    CHECK(net.places[0].name == "the place");
    CHECK(net.places[0].initial == 3);
    CHECK(document->place_positions[0] == nets::pnml::Position{"1.5", "-2"});
    REQUIRE(net.transitions.size() == 1);
    REQUIRE(net.transitions[0].consume.size() == 1);
    CHECK(net.transitions[0].consume[0].weight == 3);
    CHECK(net.transitions[0].produce[0].weight == 1);
}

TEST_CASE("a document type is refused, and with it every entity") {
    CHECK(contains(
        first_fault(R"(<?xml version="1.0"?><!DOCTYPE pnml [<!ENTITY a "aaaa">]><pnml/>)"),
        "document type"
    ));
}

TEST_CASE("a reference to the character NUL is refused: the text would end there") {
    for (const std::string nul : {"&#0;", "&#x0;", "&#000;", "&#x00;"}) {
        CAPTURE(nul);
        const std::string place = "<page id='p'><place id='a" + nul + "b'/></page>";
        CHECK(contains(first_fault(net_of(place)), "the character NUL"));
    }
    CHECK(read(net_of("<page id='p'><place id='a&#48;&#x30;'/></page>")));
}

TEST_CASE("a deep, large or broken file is refused") {
    std::string deep;
    for (int i = 0; i < 100'000; ++i)
        deep += "<page id='x'>";
    for (int i = 0; i < 100'000; ++i)
        deep += "</page>";
    CHECK(contains(first_fault(net_of(deep)), "nested"));
    CHECK(contains(first_fault("<pnml><net></pnml>"), "not well-formed"));
    CHECK(contains(first_fault("\xff\xfe<pnml/>"), "UTF-8"));
    CHECK(contains(first_fault(R"(<?xml version="1.0" encoding="iso-8859-1"?><pnml/>)"), "encoding")
    );
    const auto small = read(net_of("<page id='p'/>"), {.bytes_max = 10});
    REQUIRE_FALSE(small);
    CHECK(small.error().code == base::ErrorCode::too_large);
    const auto many = read(net_of("<place id='p'/><place id='q'/>"), {.nodes_max = 1});
    REQUIRE_FALSE(many);
    CHECK(many.error().code == base::ErrorCode::too_large);
}

TEST_CASE("numbers that are no counts are refused") {
    const auto marked = [](const std::string& text) {
        return net_of(
            "<place id='p'><initialMarking><text>" + text + "</text></initialMarking></place>"
        );
    };
    CHECK(contains(first_fault(marked("-1")), "natural number"));
    CHECK(contains(first_fault(marked("")), "natural number"));
    CHECK(contains(first_fault(marked("1.0")), "natural number"));
    CHECK(contains(first_fault(marked("1000000001")), "more than"));
    CHECK(contains(first_fault(marked("99999999999999999999999999")), "more than"));
    CHECK(read(marked("1000000000")));
}

TEST_CASE("all faults are told at once, each with its line") {
    const auto result = read(net_of(
        "\n<place id='p'><capacity/></place>\n<place id='p'/>\n<transition/>\n<gate id='g'/>"
    ));
    REQUIRE_FALSE(result);
    REQUIRE(result.error().details.size() == 4);
    CHECK(result.error().details[0].pointer == "line 2");
    CHECK(contains(result.error().details[0].message, "<capacity> is not known"));
    CHECK(contains(result.error().details[1].message, "'p' is given twice"));
    CHECK(contains(result.error().details[2].message, "needs an id"));
    CHECK(result.error().details[3].pointer == "line 5");
}

TEST_CASE("arcs that lead nowhere, between like nodes or around in a circle are refused") {
    const std::string nodes =
        "<place id='p'/><place id='q'/><transition id='t'/>"
        "<referencePlace id='r' ref='s'/><referencePlace id='s' ref='r'/>"
        "<referencePlace id='x' ref='t'/>";
    const auto with = [&](const std::string& source, const std::string& target) {
        return net_of(nodes + "<arc id='a' source='" + source + "' target='" + target + "'/>");
    };
    CHECK(contains(first_fault(with("p", "q")), "from a place to a place"));
    CHECK(contains(first_fault(with("p", "z")), "'z' is no node"));
    CHECK(contains(first_fault(with("r", "t")), "circle"));
    CHECK(contains(first_fault(with("p", "x")), "nothing of its kind"));
    CHECK(read(with("p", "t")));
}

TEST_CASE("a read arc is exported as a pair of arcs, what PNML cannot say is refused") {
    Document document;
    document.net.name = "n";
    document.net.places = {{.id = "same", .name = "", .initial = 1, .capacity = {}}};
    document.net.transitions.push_back({.id = "same", .read = {{.place = 0, .weight = 2}}});
    const auto xml = write(document);
    REQUIRE(xml);
    const auto back = read(*xml);
    REQUIRE(back);
    CHECK(back->net.transitions[0].consume == back->net.transitions[0].produce);
    CHECK(back->net.transitions[0].consume[0].weight == 2);
    document.net.transitions[0].reset = {0};
    CHECK_FALSE(write(document));
}
