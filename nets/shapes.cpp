#include "nets/shapes.hpp"

#include "base/json.hpp"
#include "nets/faults.hpp"
#include "nets/interpolation.hpp"
#include "nets/shape.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <span>

namespace nets {

namespace {

using base::Json;
using base::pointer_child;
using shape::Field;
using shape::json_type;
using shape::View;

class Shapes {
public:
    explicit Shapes(const Net& net) : net_(net), document_(*base::parse_json(net.document)) {
        for (const auto& place : net.places) {
            if (place.schema)
                schemas_.emplace(place.name, *base::parse_json(place.schema->document));
        }
    }

    std::vector<Finding> run() {
        if (schemas_.empty()) return {};
        for (const auto& place : net_.places)
            initial_tokens(place);
        if (const auto found = document_.find("transitions"); found != document_.end()) {
            for (const auto& transition : net_.transitions)
                check(transition, found->at(transition.name));
        }
        return std::move(findings_);
    }

private:
    void error(std::string at, std::string message) {
        findings_.push_back({Severity::error, std::move(at), "schema_mismatch", std::move(message)}
        );
    }
    void warn(std::string at, std::string message) {
        findings_.push_back({Severity::warning, std::move(at), "field_unknown", std::move(message)}
        );
    }

    [[nodiscard]] View schema_of(PlaceIndex place) const {
        const auto found = schemas_.find(net_.places[place].name);
        if (found == schemas_.end()) return {};
        return {&found->second, &found->second};
    }

    void initial_tokens(const Place& place) {
        if (!place.schema) return;
        for (std::size_t i = 0; i < place.tokens.size(); ++i) {
            const auto at = fmt::format("{}/tokens/{}", pointer_child("/places", place.name), i);
            validate(place, place.tokens[i], at);
        }
    }

    void validate(const Place& place, std::string_view json, const std::string& at) {
        const auto value = base::parse_json(json);
        if (!value) return;
        const auto fits = place.schema->compiled.validate(*value);
        if (fits) return;
        for (const auto& detail : fits.error().details) {
            error(
                at + detail.pointer,
                fmt::format("does not fit the schema of '{}': {}", place.name, detail.message)
            );
        }
        if (fits.error().details.empty()) error(at, fits.error().message);
    }

    // What the names of one transition stand for.
    struct Names {
        cel::Scope scope;
        std::map<std::string, std::pair<View, std::string>, std::less<>> views;  // and the place
    };

    void check(const Transition& transition, const Json& source) {
        const auto at = pointer_child("/transitions", transition.name);
        Names names;
        for (const auto& arc : transition.in) {
            names.scope.names.push_back(arc.alias);
            const View view = schema_of(arc.place);
            const auto& place = net_.places[arc.place].name;
            if (!arc.takes_list) names.views[arc.alias] = {view, place};
            if (source.contains("in")) {
                arc_expressions(source["in"].at(arc.alias), {view, place}, at + "/in", arc.alias);
            }
        }
        for (std::size_t i = 0; i < fixed_name_count; ++i)
            names.scope.names.emplace_back(name(static_cast<FixedName>(i)));
        if (source.contains("guard")) {
            expression(source["guard"].get<std::string>(), names, at + "/guard");
        }
        for (const char* field : {"call", "agent", "net", "http", "llm"}) {
            if (source.contains(field)) texts(source[field], names, pointer_child(at, field));
        }
        outputs(transition.out, source, "out", names, at);
        if (transition.fail) outputs(*transition.fail, source, "fail", names, at);
    }

    void arc_expressions(
        const Json& arc,
        const std::pair<View, std::string>& view,
        const std::string& at,
        const std::string& alias
    ) {
        if (!arc.is_object()) return;
        const Names names{{{"token"}}, {{"token", view}}};
        for (const char* field : {"where", "key", "order"}) {
            const auto found = arc.find(field);
            if (found == arc.end() || *found == "fifo" || *found == "lifo") continue;
            expression(found->get<std::string>(), names, pointer_child(at, alias) + "/" + field);
        }
    }

    void outputs(
        const Outputs& outputs,
        const Json& source,
        const char* field,
        const Names& names,
        const std::string& up
    ) {
        const auto found = source.find(field);
        if (found == source.end()) return;
        const std::string at = pointer_child(up, field);
        rule_expressions(*found, names, at);
        std::size_t i = 0;
        for (const auto& rule : outputs.rules) {
            const auto& place = net_.places[rule.place];
            const bool listed = found->is_array();
            const std::string here =
                listed ? fmt::format("{}/{}/token", at, i) : pointer_child(at, place.name);
            const Json* token = nullptr;
            if (listed) {
                const auto& object = found->at(i);
                if (object.contains("token")) token = &object.at("token");
            } else {
                token = &found->at(place.name);
            }
            ++i;
            if (token == nullptr || !place.schema) continue;
            if (rule.token.constant()) {
                std::string text;
                cel::Budget budget;
                if (rule.token.render(text, {}, budget)) validate(place, text, here);
            } else {
                made(*token, schema_of(rule.place), place.name, here);
            }
        }
    }

    // What a template makes, as far as it is plain.
    void made(
        const Json& value, const View& view, const std::string& place, const std::string& at
    ) {
        const auto pieces = value.is_string() ? split_interpolation(value.get<std::string>())
                                              : base::Result<std::vector<Piece>>{};
        if (value.is_string() && pieces && pieces->size() == 1 && pieces->front().expression) {
            return;  // whatever it yields
        }
        const auto type = json_type(value);
        if (!view.allows(type)) {
            return error(at, fmt::format("'{}' takes {} here, not {}", place, view.types(), type));
        }
        if (value.is_object()) return made_object(value, view, place, at);
        if (!value.is_array()) return;
        for (std::size_t i = 0; i < value.size(); ++i)
            made(value[i], view.items(), place, fmt::format("{}/{}", at, i));
    }

    void made_object(
        const Json& value, const View& view, const std::string& place, const std::string& at
    ) {
        const View shape = view.resolved();
        for (const auto& [key, field] : value.items()) {
            View inner;
            const auto here = pointer_child(at, key);
            if (shape.field(key, inner) == Field::excluded) {
                error(here, fmt::format("the schema of '{}' has no such field", place));
            } else {
                made(field, inner, place, here);
            }
        }
        if (shape.schema == nullptr || !shape.schema->is_object()) return;
        const auto required = shape.schema->find("required");
        if (required == shape.schema->end()) return;
        for (const auto& key : *required) {
            if (!value.contains(key.get_ref<const std::string&>())) {
                error(
                    at,
                    fmt::format(
                        "the schema of '{}' requires the field {}",
                        place,
                        in_quotes(key.get_ref<const std::string&>())
                    )
                );
            }
        }
    }

    // Every expression in the strings of a template.
    void texts(const Json& value, const Names& names, const std::string& at) {
        if (value.is_object()) {
            for (const auto& [key, field] : value.items())
                texts(field, names, pointer_child(at, key));
        } else if (value.is_array()) {
            for (std::size_t i = 0; i < value.size(); ++i)
                texts(value[i], names, fmt::format("{}/{}", at, i));
        } else if (value.is_string()) {
            const auto& text = value.get_ref<const std::string&>();
            const auto pieces = split_interpolation(text);
            if (!pieces) return;
            for (const auto& piece : *pieces)
                if (piece.expression) expression(piece.text, names, at);
        }
    }

    // In a rule `when` and `each` are expressions, and may be written bare.
    void rule_expressions(const Json& rules, const Names& names, const std::string& at) {
        if (!rules.is_array()) return texts(rules, names, at);
        for (std::size_t i = 0; i < rules.size(); ++i) {
            const auto here = fmt::format("{}/{}", at, i);
            for (const char* field : {"when", "each"}) {
                const auto found = rules[i].find(field);
                if (found == rules[i].end()) continue;
                expression(found->get<std::string>(), names, pointer_child(here, field));
            }
            if (rules[i].contains("token")) texts(rules[i]["token"], names, here + "/token");
        }
    }

    void expression(std::string_view text, const Names& names, const std::string& at) {
        const auto program = cel::Program::compile(without_braces(text), names.scope);
        if (!program) return;  // the compiler has told
        for (const auto& path : program->paths())
            read(path, names, at);
    }

    void read(std::span<const std::string> path, const Names& names, const std::string& at) {
        const auto known = names.views.find(path.front());
        if (known == names.views.end() || known->second.first.schema == nullptr) return;
        View view = known->second.first;
        const auto& place = known->second.second;
        for (std::size_t i = 1; i < path.size(); ++i) {
            View inner;
            const Field field = view.field(path[i], inner);
            const auto words = fmt::format("{}", fmt::join(path.first(i + 1), "."));
            if (field == Field::excluded) {
                return error(
                    at, fmt::format("'{}' cannot be: the schema of '{}' excludes it", words, place)
                );
            }
            if (field == Field::unnamed) {
                return warn(
                    at,
                    fmt::format(
                        "the schema of '{}' does not name '{}'; ask has({}) where it may be absent",
                        place,
                        words,
                        words
                    )
                );
            }
            if (inner.schema == nullptr) return;
            view = inner;
        }
    }

    const Net& net_;
    Json document_;
    std::map<std::string, Json, std::less<>> schemas_;
    std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> check_shapes(const Net& net) {
    return Shapes(net).run();
}

}  // namespace nets
