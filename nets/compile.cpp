#include "base/limits.hpp"
#include "nets/compile_parts.hpp"
#include "nets/fields.hpp"
#include "nets/grammar.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace nets {

namespace {

constexpr std::size_t version_bytes_max = 64;
constexpr std::size_t derived_version_digits = 12;

void compile_version(const base::Json& value, const At& at, Draft& draft) {
    const auto text = read_text(value, at, draft.faults);
    if (!text) return;
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_' || c == '+';
    };
    if (text->empty() || text->size() > version_bytes_max || !std::ranges::all_of(*text, plain)) {
        return draft.faults.add(
            at,
            fmt::format(
                "{} is no version: 1 to {} of letters, digits, '.', '-', '_' and '+'",
                in_quotes(*text),
                version_bytes_max
            )
        );
    }
    draft.net.version = *text;
}

void compile_transitions(const base::Json& value, const At& at, Draft& draft) {
    if (!expect_object(value, at, draft.faults)) return;
    if (value.size() > transitions_max) {
        return draft.faults.add(
            at,
            fmt::format("{} transitions; a net has at most {}", value.size(), transitions_max),
            base::ErrorCode::too_large
        );
    }
    draft.net.transitions.reserve(value.size());
    for (const auto& [name, transition] : value.get_ref<const base::Json::object_t&>()) {
        auto& made = draft.net.transitions.emplace_back();
        made.name = name;
        compile_transition(transition, at / name, draft, made);
    }
}

void compile_start(const base::Json& value, const At& at, Draft& draft) {
    draft.net.start = read_place(value, at, draft, PlaceUse::change);
    if (!draft.net.start) return;
    const auto& place = draft.net.places[*draft.net.start];
    if (!place.cases) {
        draft.faults.add(
            at,
            fmt::format(
                "the place '{}' has \"cases\": false: a case that starts there would lose its "
                "token",
                place.name
            )
        );
    }
}

void compile_end(const base::Json& value, const At& at, Draft& draft) {
    const auto add = [&](const base::Json& name, const At& here) {
        const auto place = read_place(name, here, draft, PlaceUse::change);
        if (!place) return;
        auto& end = draft.net.end;
        if (std::ranges::find(end, *place) == end.end()) {
            end.push_back(*place);
        } else {
            draft.faults.add(here, fmt::format("{} is listed twice", name.dump()));
        }
    };
    if (value.is_string()) return add(value, at);
    if (!value.is_array()) {
        return draft.faults.add(at, wrong_type("a list of places, or one", value));
    }
    if (value.size() > draft.net.places.size()) {
        return draft.faults.add(at, "lists more places than the net has");
    }
    for (std::size_t i = 0; i < value.size(); ++i)
        add(value[i], at / i);
}

void compile_migrate(const base::Json& value, const At& at, Draft& draft) {
    if (!expect_object(value, at, draft.faults)) return;
    for (const auto& [old_place, place] : value.get_ref<const base::Json::object_t&>()) {
        const At here = at / old_place;
        read_name(old_place, here, draft.faults);
        const auto target = read_place(place, here, draft, PlaceUse::change);
        if (draft.net.place(old_place)) {
            draft.faults.add(
                here,
                fmt::format(
                    "the place {} is still there: it keeps its tokens", in_quotes(old_place)
                )
            );
        } else if (target) {
            draft.net.migrate.emplace_back(old_place, *target);
        }
    }
}

void compile_document(const base::Json& document, Draft& draft) {
    const At at;
    const Fields fields(document, at, draft.faults, grammar::document);
    if (const auto* schema = fields.find("$schema")) {
        read_text(*schema, at / "$schema", draft.faults);
    }
    if (const auto* name = fields.require("net")) {
        draft.net.name = read_name(*name, at / "net", draft.faults).value_or("");
    }
    if (const auto* version = fields.find("version")) {
        compile_version(*version, at / "version", draft);
    }
    if (const auto* description = fields.find("description")) {
        draft.net.description =
            read_text(*description, at / "description", draft.faults).value_or("");
    }
    if (const auto* places = fields.require("places")) {
        compile_places(*places, at / "places", draft);
    }
    if (const auto* transitions = fields.find("transitions")) {
        compile_transitions(*transitions, at / "transitions", draft);
    }
    if (const auto* start = fields.find("start")) compile_start(*start, at / "start", draft);
    if (const auto* end = fields.find("end")) compile_end(*end, at / "end", draft);
    if (const auto* migrate = fields.find("migrate")) {
        compile_migrate(*migrate, at / "migrate", draft);
    }
    if (const auto* layout = fields.find("layout")) {
        expect_object(*layout, at / "layout", draft.faults);
    }
}

}  // namespace

base::Result<Net> compile(const base::Json& document) {
    auto text = base::canonical(document);
    if (text.size() > document_bytes_max) {
        return base::fail(
            base::ErrorCode::too_large,
            fmt::format(
                "a net document of {} bytes; the limit is {}", text.size(), document_bytes_max
            )
        );
    }
    if (base::limits::json_depth(text) > base::limits::accepted.depth_max) {
        return base::fail(
            base::ErrorCode::too_large,
            fmt::format("a net document nests at most {} levels", base::limits::accepted.depth_max)
        );
    }
    Draft draft;
    compile_document(document, draft);
    if (!draft.faults.empty()) {
        const auto& name = draft.net.name;
        return base::fail(draft.faults.error(
            name.empty() ? "the net document" : fmt::format("the net '{}'", name)
        ));
    }
    draft.net.document = std::move(text);
    draft.net.digest = base::sha256(draft.net.document);
    if (draft.net.version.empty()) {
        draft.net.version = draft.net.digest.hex().substr(0, derived_version_digits);
    }
    return std::move(draft.net);
}

}  // namespace nets
