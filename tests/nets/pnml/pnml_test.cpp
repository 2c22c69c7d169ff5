#include "nets/pnml/pnml.hpp"

#include "tests/nets/pnml/corpus.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

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
    CHECK(contains(first_fault("\xff<pnml/>"), "UTF-8"));
    const auto small = read(net_of("<page id='p'/>"), {.bytes_max = 10});
    REQUIRE_FALSE(small);
    CHECK(small.error().code == base::ErrorCode::too_large);
    const auto many = read(net_of("<place id='p'/><place id='q'/>"), {.nodes_max = 1});
    REQUIRE_FALSE(many);
    CHECK(many.error().code == base::ErrorCode::too_large);
}

TEST_CASE("a net reads the same in every encoding that is read") {
    const std::u32string body =
        UR"(<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
<place id="p"><name><text>)"
        U"caf\u00e9 \u00ff"
        UR"(</text></name></place></page></net></pnml>)";
    const auto text = [&](std::string_view encoding) {
        std::u32string all = U"<?xml version=\"1.0\"";
        if (!encoding.empty())
            all += U" encoding=\"" + std::u32string(encoding.begin(), encoding.end()) + U"\"";
        return all + U"?>" + body;
    };
    const auto bytes = [](const std::u32string& units, int size, bool big) {
        std::string out;
        for (const char32_t c : units) {
            for (int i = 0; i < size; ++i)
                out += static_cast<char>(c >> (8 * (big ? size - 1 - i : i)));
        }
        return out;
    };
    const auto utf8 = [](const std::u32string& units) {
        std::string out;
        for (const char32_t c : units) {
            if (c >= 0x80) out += static_cast<char>(0xC0 | (c >> 6));
            out += static_cast<char>(c < 0x80 ? c : 0x80 | (c & 0x3F));
        }
        return out;
    };
    const std::u32string mark = U"\ufeff";
    std::vector<std::string> files = {
        utf8(text("")),
        utf8(text("UTF-8")),
        "\xEF\xBB\xBF" + utf8(text("utf-8")),
        bytes(text("ISO-8859-1"), 1, true),
        bytes(text("latin1"), 1, true),
    };
    for (const bool big : {false, true}) {
        for (const int size : {2, 4}) {
            files.push_back(bytes(text(""), size, big));
            files.push_back(bytes(mark + text(size == 2 ? "UTF-16" : "UTF-32"), size, big));
        }
    }
    for (const auto& file : files) {
        CAPTURE(file.substr(0, 60));
        const auto document = read(file);
        REQUIRE_MESSAGE(document, (document ? "" : document.error().message));
        CHECK(document->net.places.at(0).name == "caf\u00e9 \u00ff");
    }
    CHECK(contains(first_fault(bytes(text("KOI8-R"), 1, true)), "'koi8-r' is not read"));
    CHECK(contains(first_fault(bytes(text("utf-8"), 2, true)), "its bytes are UTF-16"));
    CHECK(contains(first_fault(bytes(text("utf-16"), 1, true)), "not valid UTF-16"));
    CHECK(contains(first_fault(bytes(text("utf-8"), 1, true)), "not valid UTF-8"));
    CHECK(contains(
        first_fault(bytes(mark + U"<pnml>" + char32_t{0xD800} + U"</pnml>", 2, true)), "UTF-16"
    ));
    CHECK(contains(first_fault(bytes(mark + text(""), 2, true) + "x"), "UTF-16"));
}

TEST_CASE("a zero byte is refused: the parser would end there") {
    const auto good = net_of("<place id='p'/>");
    REQUIRE(read(good));
    CHECK(contains(first_fault(good + std::string(1, '\0') + "<rest/>"), "a zero byte"));
}

// Each of them means another net to the program that wrote it.
TEST_CASE("what is not part of a P/T net is refused wherever it stands") {
    const std::string nodes = "<place id='p'/><transition id='t'/>";
    const auto arc = [&](const std::string& attributes, const std::string& inside) {
        return net_of(
            nodes + "<arc id='a' source='p' target='t' " + attributes + ">" + inside + "</arc>"
        );
    };
    CHECK(read(arc("", "")));
    for (const auto& xml : {
             arc("type='inhibitor'", ""),
             arc("inscription='2'", ""),
             arc("", "<type value='inhibitor'/>"),
             arc("", "<arctype><text>inhibitor</text></arctype>"),
             arc("", "<arctype><text>reset</text></arctype>"),
             arc("", "2"),
             arc("", "<inscription weight='2'><text>1</text></inscription>"),
             arc("", "<inscription><text>1</text><text>2</text></inscription>"),
             arc("", "<inscription><text>1<b>2</b></text></inscription>"),
             arc("", "<inscription>2<text>1</text></inscription>"),
             arc("xmlns:x='urn:x'", "<x:inscription><text>2</text></x:inscription>"),
             arc("xmlns:x='urn:x' x:kind='reset'", ""),
             net_of("<place id='p' initialMarking='3'/>"),
             net_of("<place id='p' capacity='3'/>"),
             net_of("<place id='p'><initialMarking><value>3</value></initialMarking></place>"),
             net_of("<transition id='t' guard='x'/>"),
             net_of("<transition id='t'><condition><text>x</text></condition></transition>"),
             net_of("<page id='g' initialMarking='1'/>"),
             net_of("<variables/>"),
         }) {
        CAPTURE(xml);
        CHECK_FALSE(read(xml));
    }
    CHECK(read(arc("", "<arctype><text>normal</text></arctype>")));
    CHECK(read(arc("xml:lang='en'", "<toolspecific tool='x' version='1'><y z='1'/></toolspecific>"))
    );
    CHECK(read(arc("", "<graphics><line shape='curve'/></graphics>")));
}

TEST_CASE("an arc has an id of its own") {
    const std::string nodes = "<place id='p'/><transition id='t'/>";
    const auto with = [&](const std::string& first, const std::string& second) {
        return net_of(
            nodes + "<arc " + first + " source='p' target='t'/><arc " + second +
            " source='t' target='p'/>"
        );
    };
    CHECK(read(with("id='a'", "id='b'")));
    CHECK(contains(first_fault(with("id='a'", "id='a'")), "'a' is duplicated"));
    CHECK(contains(first_fault(with("id='p'", "id='b'")), "'p' is duplicated"));
    CHECK(contains(first_fault(with("", "id='b'")), "needs an id"));
}

TEST_CASE("a net as ProM and pm4py write it is read, though its type is the core model") {
    const auto document = read(R"(<?xml version='1.0' encoding='UTF-8'?>
<pnml>
  <net id="net1" type="http://www.pnml.org/version-2009/grammar/pnmlcoremodel">
    <name><text>mined</text></name>
    <page id="n0">
      <place id="source"><name><text>source</text></name>
        <initialMarking><text>1</text></initialMarking></place>
      <place id="sink"><name><text>sink</text></name></place>
      <transition id="t1"><name><text>pay</text></name>
        <graphics><position x="1" y="2"/><fill color="#FFFFFF"/></graphics>
        <toolspecific tool="ProM" version="6.4" activity="$invisible$" localNodeID="a"/></transition>
      <arc id="1" source="source" target="t1"><name><text>1</text></name>
        <toolspecific tool="ProM" version="6.4" localNodeID="b"/>
        <arctype><text>normal</text></arctype></arc>
      <arc id="2" source="t1" target="sink"><inscription><text>2</text></inscription></arc>
    </page>
    <finalmarkings><marking><place idref="sink"><text>1</text></place></marking></finalmarkings>
  </net>
</pnml>)");
    REQUIRE_MESSAGE(document, (document ? "" : document.error().message));
    CHECK(document->net.places.at(0).initial == 1);
    CHECK(document->net.transitions.at(0).produce.at(0).weight == 2);
    CHECK(contains(
        first_fault("<pnml><net id='n' type='http://www.pnml.org/version-2009/grammar/"
                    "pnmlcoremodel'><place id='p'><hlinitialMarking/></place></net></pnml>"),
        "<hlinitialMarking> is not known"
    ));
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
    CHECK(contains(result.error().details[1].message, "<gate> is not known"));
    CHECK(result.error().details[1].pointer == "line 5");
    CHECK(contains(result.error().details[2].message, "'p' is given twice"));
    CHECK(contains(result.error().details[3].message, "needs an id"));
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
