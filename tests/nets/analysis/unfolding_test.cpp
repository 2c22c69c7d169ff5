#include "base/json.hpp"
#include "nets/analysis/abstract.hpp"
#include "nets/analysis/check_net.hpp"
#include "nets/analysis/command.hpp"
#include "tests/nets/analysis/in_and_out.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

namespace analysis = nets::analysis;
using analysis::Answer;
using analysis::Property;
using analysis::Values;

namespace {

/// A place whose tokens hold one of the values in `status`.
std::string place(std::string_view name, std::string_view values, std::string_view more = "") {
    return fmt::format(
        R"("{}": {{"schema": {{"type": "object", "required": ["status"],
            "properties": {{"status": {{"enum": {}}}}}}}{}}})",
        name,
        values,
        more
    );
}

const std::string ends = R"(, "out": {}, "bad": {})";
const std::string three = R"(["new", "paid", "lost"])";

analysis::Report checked(const std::string& places, const std::string& transitions) {
    return analysis::check(in_and_out(places, transitions), {});
}

const analysis::Verdict& verdict(const analysis::Report& report, Property property) {
    const auto* const found = report.verdict(property);
    REQUIRE(found != nullptr);
    return *found;
}

bool has_parts(const std::string& places, const std::string& transitions) {
    const auto net = analysis::abstracted(in_and_out(places, transitions), Values::told_apart);
    return std::ranges::any_of(net.places, [](const auto& part) { return !part.of.empty(); });
}

bool says(const analysis::Report& report, std::string_view what) {
    return std::ranges::any_of(report.abstracted, [&](const analysis::Abstraction& made) {
        return made.what.contains(what);
    });
}

const analysis::Finding* finding(const analysis::Report& report, std::string_view code) {
    const auto at = std::ranges::find(report.findings, code, &analysis::Finding::code);
    return at == report.findings.end() ? nullptr : &*at;
}

std::string guarded(std::string_view name, std::string_view guard, std::string_view to) {
    return fmt::format(
        R"("{}": {{"in": {{"x": "in"}}, "guard": "{}", "out": {{"{}": "${{x}}"}}}})",
        name,
        guard,
        to
    );
}

}  // namespace

TEST_CASE("an exclusive choice by a listed value is sound, whatever the data") {
    const auto report = checked(
        place("in", three) + ends,
        guarded("go", "x.status == 'paid'", "out") + "," +
            guarded("stop", "x.status != 'paid'", "bad")
    );
    CHECK(verdict(report, Property::sound).answer == Answer::proved);
    CHECK_FALSE(verdict(report, Property::option_to_complete).reason.contains("data"));
    CHECK(report.abstracted.empty());
    CHECK_FALSE(report.has_errors());
}

TEST_CASE("a value that no guard lets pass is a certain fault, told by its place") {
    const auto report = checked(
        place("in", three) + ends,
        guarded("go", "x.status == 'paid'", "out") + "," +
            guarded("stop", "x.status == 'new'", "bad")
    );
    const auto& completes = verdict(report, Property::option_to_complete);
    REQUIRE(completes.answer == Answer::refuted);
    CHECK(completes.trace->certain);
    CHECK(
        completes.trace->firings ==
        std::vector<std::string>{R"(a case begins with in[status="lost"])"}
    );
    const auto* const stuck = finding(report, "stuck");
    REQUIRE(stuck != nullptr);
    CHECK(stuck->severity == analysis::Severity::error);
    CHECK(stuck->message.contains(R"('in[status="lost"]')"));
}

TEST_CASE("where, when, lists, has, truth and not are decided like guards") {
    const std::string places = place("in", three) + ends;
    const auto sound = [&](const std::string& transitions) {
        const auto report = checked(places, transitions);
        CAPTURE(transitions);
        CHECK(verdict(report, Property::sound).answer == Answer::proved);
        CHECK(report.abstracted.empty());
    };
    sound(R"("a": {"in": {"x": {"place": "in", "where": "token.status in ['paid', 'new']"}},
                   "out": {"out": 1}},
             "b": {"in": {"x": {"place": "in", "where": "token.status == 'lost'"}},
                   "out": {"bad": 1}})");
    sound(R"("a": {"in": {"x": "in"}, "choose": "first", "out": [
                   {"to": "out", "token": 1, "when": "x.status == 'paid' || x.status == 'new'"},
                   {"to": "bad", "token": 1, "when": "!(x.status in ['paid']) "}]})");
    sound(
        guarded("a", "has(x.status) && x['status'] < 'm'", "out") + "," +
        guarded("b", "x.status == 'lost' ? true : x.status >= 'm'", "out")
    );
    const auto partly = checked(
        places,
        guarded("a", "x.status == 'paid' || x.total > 5", "out") + "," +
            guarded("b", "x.status != 'paid'", "bad")
    );
    CHECK(verdict(partly, Property::sound).answer == Answer::proved);
    CHECK(says(partly, "its guard may go either way"));
}

TEST_CASE("'otherwise' comes out exactly for the values that no rule takes") {
    const auto net = analysis::abstracted(
        in_and_out(
            place("in", three) + ends,
            R"("a": {"in": {"x": "in"}, "out": [
                   {"to": "out", "token": 1, "when": "x.status == 'paid'"},
                   {"to": "bad", "token": 1, "otherwise": true}]})"
        ),
        Values::told_apart
    );
    std::vector<std::string> ids;
    for (const auto& transition : net.transitions) {
        CHECK_FALSE(transition.may_refuse);
        if (!transition.outside) ids.push_back(transition.id);
    }
    CHECK(
        ids ==
        std::vector<std::string>{R"(a[status="new"])", R"(a[status="paid"])", R"(a[status="lost"])"}
    );
}

TEST_CASE("a result that no rule takes ends among the dead letters") {
    const std::string rule = R"("out": [{"to": "out", "token": 1, "when": "x.status == 'paid'"}])";
    const auto lost =
        checked(place("in", three) + ends, R"("a": {"in": {"x": "in"}, )" + rule + "}");
    const auto* const stuck = finding(lost, "stuck");
    REQUIRE(stuck != nullptr);
    CHECK(stuck->trace->certain);
    CHECK(stuck->message.contains("'dead letters'"));
    const auto caught = checked(
        place("in", three) + ends,
        R"("a": {"in": {"x": "in"}, "fail": {"bad": "${x}"}, )" + rule + "}"
    );
    CHECK(verdict(caught, Property::option_to_complete).answer == Answer::proved);
    CHECK_FALSE(caught.has_errors());
}

TEST_CASE("a guard that holds for no listed value is a transition that never fires") {
    const auto report = checked(
        place("in", three) + ends,
        guarded("go", "x.status == 'payed'", "out") + "," +
            R"("rest": {"in": {"x": "in"}, "out": {"bad": "${x}"}})"
    );
    CHECK(verdict(report, Property::quasi_live).answer == Answer::refuted);
    const auto* const never = finding(report, "never_fires");
    REQUIRE(never != nullptr);
    CHECK(never->element == "go");
    CHECK(never->pointer == "/transitions/go");
    CHECK(never->message.contains("holds for none") == false);
    CHECK(never->message.contains("hold for none of the values"));
}

TEST_CASE("values are followed through templates: copied, set, computed, from a result") {
    const std::string places = place("in", three) + "," + place("mid", three) + ends;
    const std::string takers =
        R"(,"p": {"in": {"m": "mid"}, "guard": "m.status == 'paid'", "out": {"out": 1}},
            "q": {"in": {"m": "mid"}, "guard": "m.status == 'new'", "out": {"bad": 1}})";
    const auto completes = [&](const std::string& template_text, std::string_view action = "") {
        const auto report = checked(
            places,
            fmt::format(
                R"("a": {{"in": {{"x": "in"}}, {} "out": {{"mid": {}}}}})", action, template_text
            ) + takers
        );
        return verdict(report, Property::option_to_complete);
    };
    CHECK(completes(R"({"status": "paid"})").answer == Answer::proved);
    CHECK(completes(R"({"status": "${x.total > 5 ? 'paid' : 'new'}"})").answer == Answer::proved);
    for (const auto* const copied :
         {R"("${x}")", R"({"status": "${x.status}"})", R"("${{'status': x.status}}")"}) {
        const auto& refuted = completes(copied);
        CAPTURE(copied);
        REQUIRE(refuted.answer == Answer::refuted);
        CHECK(refuted.trace->certain);
        CHECK(refuted.trace->firings.front() == R"(a case begins with in[status="lost"])");
    }
    const auto& by_result =
        completes(R"({"status": "${result.status}"})", R"("call": {"toolId": "t"}, )");
    REQUIRE(by_result.answer == Answer::refuted);
    CHECK_FALSE(by_result.trace->certain);
}

TEST_CASE("nested fields, a token that is the value, booleans and constants are told apart") {
    const auto nested = checked(
        R"("in": {"schema": {"type": "object", "required": ["order"], "properties": {"order":
            {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean"}}}}}})" +
            ends,
        guarded("a", "x.order.ok", "out") + "," + guarded("b", "!x.order.ok", "bad")
    );
    CHECK(verdict(nested, Property::sound).answer == Answer::proved);
    CHECK(nested.abstracted.empty());
    const auto whole = checked(
        R"("in": {"schema": {"enum": ["a", "b"]}})" + ends,
        guarded("a", "x == 'a'", "out") + "," + guarded("b", "x == 'b'", "bad")
    );
    CHECK(verdict(whole, Property::sound).answer == Answer::proved);
    const auto constant = checked(
        R"("in": {"schema": {"type": "object", "required": ["v"],
            "properties": {"v": {"const": 2}}}})" +
            ends,
        guarded("a", "x.v == 2", "out")
    );
    CHECK(verdict(constant, Property::option_to_complete).answer == Answer::proved);
    CHECK(constant.abstracted.empty());
}

TEST_CASE("references within a schema are followed, and an empty list has no value") {
    const std::string referring =
        R"("in": {"schema": {"$ref": "#/$defs/a", "$defs": {"b": {"enum": ["p", "q"]},
            "a": {"type": "object", "required": ["s"], "properties": {"s": {"$ref": "#/$defs/b"}}}}}})";
    const auto report = checked(
        referring + ends,
        guarded("a", "x.s == 'p'", "out") + "," + guarded("b", "x.s == 'q'", "bad")
    );
    CHECK(verdict(report, Property::sound).answer == Answer::proved);
    CHECK(report.abstracted.empty());
    CHECK(finding(report, "guards_gap") == nullptr);
    const auto none = checked(place("in", "[]") + ends, guarded("a", "x.status == 'p'", "out"));
    CHECK(finding(none, "guards_gap") == nullptr);
}

TEST_CASE("all parts of a place together are told by its name, and counted once") {
    const auto report = checked(
        place("in", three) + "," + place("mid", three) + ends,
        R"("go": {"in": {"x": "in"}, "out": {"mid": "${x}"}},)"
        R"("a": {"in": {"x": "mid"}, "guard": "x.status == 'paid'", "out": {"out": 1}},)"
        R"("b": {"in": {"x": "mid"}, "guard": "x.status != 'paid'", "out": {"out": 1}})"
    );
    CHECK(report.places == 4);
    const auto* const one = finding(report, "mutual_exclusion");
    REQUIRE(one != nullptr);
    CHECK(one->message.contains("exactly one of 'in', 'mid', 'out' holds"));
}

TEST_CASE("a schema that may rule a listed value out makes no sequence certain") {
    const auto report = checked(
        R"("in": {"schema": {"type": "object", "required": ["status"], "not": {"required": ["x"]},
            "properties": {"status": {"enum": ["new", "paid"]}}}})" +
            ends,
        guarded("a", "x.status == 'paid'", "out")
    );
    const auto& completes = verdict(report, Property::option_to_complete);
    REQUIRE(completes.answer == Answer::refuted);
    CHECK_FALSE(completes.trace->certain);
}

TEST_CASE("more ways than a net may have are not told apart at all") {
    std::string places = place("in", R"(["a", "b", "c", "d", "e", "f", "g", "h"])");
    std::string transitions;
    std::string before = "in";
    for (int n = 0; n < 2'600; ++n) {
        const std::string next = fmt::format("p{}", n);
        places += "," + place(next, R"(["a", "b", "c", "d", "e", "f", "g", "h"])");
        transitions += fmt::format(
            R"({}"t{}": {{"in": {{"x": "{}"}}, "guard": "x.status != 'z'", "out": {{"{}": "${{x}}"}}}})",
            n > 0 ? "," : "",
            n,
            before,
            next
        );
        before = next;
    }
    const auto net =
        analysis::abstracted(in_and_out(places + ends, transitions), Values::told_apart);
    CHECK(net.transitions.size() == 2'600);
    CHECK(std::ranges::any_of(net.abstracted, [](const auto& made) {
        return made.element.empty() && made.what.contains("more than 20000");
    }));
}

TEST_CASE("values of different kinds are different, and numbers are what they are worth") {
    const auto report = checked(
        place("in", R"([1, "1", true, null, 1.0])") + ends,
        guarded("number", "x.status == 1.0", "out") + "," +
            guarded("text", "x.status == '1'", "out") + "," +
            guarded("truth", "x.status == true", "out") + "," +
            guarded("nothing", "x.status == null", "out")
    );
    CHECK(verdict(report, Property::option_to_complete).answer == Answer::proved);
    CHECK(report.abstracted.empty());
    const auto net = analysis::abstracted(
        in_and_out(
            place("in", R"([1, "1", true, null, 1.0])") + ends, guarded("a", "x.status == 1", "out")
        ),
        Values::told_apart
    );
    CHECK(std::ranges::count(net.places, "in", &analysis::PtPlace::of) == 5);
}

TEST_CASE("a place is left whole where its tokens are not each for itself, or not always told") {
    const std::string guard = guarded("a", "x.status == 'paid'", "out");
    const std::string plain = place("in", three) + ends;
    REQUIRE(has_parts(plain, guard));
    CHECK_FALSE(has_parts(R"("in": {})" + ends, guard));
    CHECK_FALSE(has_parts(plain, guarded("a", "x.total == 5", "out")));
    const std::string optional =
        R"("in": {"schema": {"type": "object", "properties": {"status": {"enum": ["paid"]}}}})";
    CHECK_FALSE(has_parts(optional + ends, guard));
    const std::string any_type =
        R"("in": {"schema": {"required": ["status"], "properties": {"status": {"enum": ["paid"]}}}})";
    CHECK_FALSE(has_parts(any_type + ends, guard));
    CHECK_FALSE(has_parts(place("in", three, R"(, "capacity": 5)") + ends, guard));
    for (const auto* const take : {"2", R"("all")", R"("any")", R"({"min": 1, "max": 2})"}) {
        CAPTURE(take);
        const std::string more = fmt::format(
            R"(, "b": {{"in": {{"l": {{"place": "in", "take": {}}}, "y": "in"}},
                        "out": {{"bad": 1}}}})",
            take
        );
        CHECK_FALSE(has_parts(plain, guard + more));
    }
    CHECK_FALSE(has_parts(
        plain + R"(, "busy": {})",
        guard + R"(, "b": {"in": {"y": "busy", "i": {"place": "in", "arc": "inhibit", "take": 2}},
                           "out": {"bad": 1}})"
    ));
    CHECK_FALSE(has_parts(
        plain + R"(, "l": {}, "r": {})",
        guard + R"(, "b": {"in": {"l": "l", "r": "r"}, "join": "or", "out": {"bad": 1}})"
    ));
    CHECK_FALSE(has_parts(
        place("in", three, R"(, "shared": true)") + "," + place("out", three) + R"(, "bad": {})",
        guard
    ));
}

TEST_CASE("inhibit and reset arcs see every part, or those that 'where' means") {
    const std::string places =
        place("in", three) + "," + place("busy", three) + R"(, "go": {}, "out": {}, "bad": {})";
    const auto net = analysis::abstracted(
        in_and_out(
            places,
            R"("split": {"in": {"x": "in"}, "out": {"busy": "${x}", "go": "${x}"}},
               "use": {"in": {"b": "busy"}, "guard": "b.status == 'paid'", "out": {"out": 1}},
               "wait": {"in": {"g": "go", "b": {"place": "busy", "arc": "inhibit"}},
                        "out": {"out": 1}},
               "pass": {"in": {"g": "go", "b": {"place": "busy", "arc": "inhibit",
                               "where": "token.status == 'lost'"}}, "out": {"out": 1}},
               "clear": {"in": {"g": "go", "b": {"place": "busy", "arc": "reset",
                               "where": "token.status != 'lost'"}}, "out": {"out": 1}})"
        ),
        Values::told_apart
    );
    const auto of = [&](std::string_view id) {
        const auto at = std::ranges::find(net.transitions, id, &analysis::PtTransition::id);
        REQUIRE(at != net.transitions.end());
        return *at;
    };
    CHECK(of("wait").inhibit.size() == 3);
    CHECK(of("pass").inhibit.size() == 1);
    CHECK(of("clear").reset.size() == 2);
    for (const auto& transition : net.transitions)
        CHECK_FALSE(transition.may_refuse);
}

TEST_CASE("two tokens with different values in one place are two tokens") {
    const auto report = checked(
        place("in", three) + "," + place("mid", three) + ends,
        R"("split": {"in": {"x": "in"}, "out": [{"to": "mid", "token": {"status": "paid"}},
                                                {"to": "mid", "token": {"status": "new"}}]},
           "p": {"in": {"m": "mid"}, "guard": "m.status == 'paid'", "out": {"out": 1}},
           "q": {"in": {"m": "mid"}, "guard": "m.status == 'new'", "out": {"out": 1}})"
    );
    CHECK(report.one_safe == false);
    CHECK(report.max_token_in_place == 2);
}

TEST_CASE("which of two tokens goes first is decided by their order, so no sequence is certain") {
    const std::string places =
        place("in", three) + "," + place("mid", three) + R"(, "one": {}, "out": {}, "bad": {})";
    const std::string split =
        R"("split": {"in": {"x": "in"}, "out": [{"to": "mid", "token": {"status": "paid"}},
                {"to": "mid", "token": {"status": "new"}}, {"to": "one", "token": 1}]},)";
    const std::string rest =
        R"(, "z": {"in": {"m": "mid"}, "guard": "m.status == 'new'", "out": {"out": 1}})";
    const auto any = checked(
        places, split + R"("take": {"in": {"m": "mid", "o": "one"}, "out": {"out": 1}})" + rest
    );
    const auto& by_order = verdict(any, Property::option_to_complete);
    REQUIRE(by_order.answer == Answer::refuted);
    CHECK_FALSE(by_order.trace->certain);
    CHECK(says(any, "takes first"));
    const auto asked = checked(
        places,
        split + R"("take": {"in": {"m": "mid", "o": "one"}, "guard": "m.status == 'new'",
                            "out": {"out": 1}})" +
            rest
    );
    const auto& by_guard = verdict(asked, Property::option_to_complete);
    REQUIRE(by_guard.answer == Answer::refuted);
    CHECK(by_guard.trace->certain);
}

TEST_CASE("a resource whose tokens change their value is no changed resource") {
    const auto report = checked(
        place("in", R"(["a"])") + "," +
            place(
                "lamp", R"(["on", "off"])", R"(, "cases": false, "tokens": [{"status": "off"}])"
            ) +
            ends,
        R"("on": {"in": {"x": "in", "l": "lamp"}, "guard": "l.status == 'off'",
                  "out": {"lamp": {"status": "on"}, "out": "${x}"}},
           "off": {"in": {"x": "in", "l": "lamp"}, "guard": "l.status == 'on'",
                   "out": {"lamp": {"status": "off"}, "out": "${x}"}})"
    );
    CHECK(verdict(report, Property::option_to_complete).answer == Answer::proved);
    CHECK(finding(report, "resource_changed") == nullptr);
}

TEST_CASE("beyond the limits a place stays whole, and the report says so") {
    std::string values = "[0";
    for (int n = 1; n < 17; ++n)
        values += fmt::format(", {}", n);
    const auto many = checked(
        place("in", values + "]") + ends,
        guarded("a", "x.status < 5", "out") + "," + guarded("b", "x.status >= 5", "bad")
    );
    CHECK(says(many, "'status' has 17 values"));
    CHECK(says(many, "its guard may go either way"));
    const auto sixteen = values.substr(0, values.rfind(',')) + "]";
    std::string places = place("in", sixteen) + ends;
    std::string split = R"("split": {"in": {"x": "in"}, "out": {)";
    std::string join = R"("join": {"in": {)";
    std::string guard;
    for (int n = 0; n < 4; ++n) {
        places += "," + place(fmt::format("p{}", n), sixteen);
        split += fmt::format(R"({}"p{}": "${{x}}")", n > 0 ? "," : "", n);
        join += fmt::format(R"({}"a{}": "p{}")", n > 0 ? "," : "", n, n);
        guard += fmt::format("{}a{}.status < 20", n > 0 ? " && " : "", n);
    }
    const auto wide = checked(
        places, split + "}}," + join + R"(}, "guard": ")" + guard + R"(", "out": {"out": 1}})"
    );
    CHECK(says(wide, "more combinations of values"));
    CHECK(verdict(wide, Property::bounded).answer == Answer::proved);
}

TEST_CASE("PNML has the places of the document") {
    const auto text = R"({"net": "n", "version": "1.0.0", "places": {)" + place("in", three) +
                      ends + R"(}, "transitions": {)" + guarded("a", "x.status == 'paid'", "out") +
                      R"(}, "start": "in", "end": ["out", "bad"]})";
    const auto output = analysis::run_pnml_export({.text = text, .file = "net.json"});
    CHECK_FALSE(output.negative);
    CHECK_FALSE(output.out.contains("paid"));
}

TEST_CASE("a choice of what a case begins with is asked about neither life nor use") {
    const auto report = checked(
        place("in", three) + ends,
        guarded("again", "x.status != 'new'", "in") + "," +
            guarded("turn", "x.status == 'new'", "in")
    );
    CHECK(finding(report, "never_fires") == nullptr);
    CHECK(report.quasi_live == true);
}
