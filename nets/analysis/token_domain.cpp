#include "nets/analysis/token_domain.hpp"

#include "nets/analysis/finite_field.hpp"
#include "nets/cel/parser.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

namespace nets::analysis {
namespace {

using base::Json;
using cel::Node;
using cel::Op;

constexpr std::size_t tokens_max = 4096;

std::optional<Json> constant_of(const Node& node) {
    if (node.op == Op::negate && node.children.size() == 1) {
        auto inner = constant_of(node.children[0]);
        if (!inner || !inner->is_number()) return std::nullopt;
        if (inner->is_number_float()) return Json(-inner->get<double>());
        return Json(-inner->get<std::int64_t>());
    }
    if (node.op != Op::constant) return std::nullopt;
    auto json = cel::to_json(node.value);
    if (!json) return std::nullopt;
    return std::move(*json);
}

/// Numbers on, between and beyond the constants; between whole numbers only whole ones.
std::vector<Json> numbers_around(const std::vector<Json>& constants) {
    std::vector<Json> values;
    if (std::ranges::all_of(constants, [](const Json& c) { return c.is_number_integer(); })) {
        constexpr auto least = std::numeric_limits<std::int64_t>::min();
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        for (const Json& constant : constants) {
            const auto n = constant.get<std::int64_t>();
            if (n > least) values.emplace_back(n - 1);
            values.emplace_back(n);
            if (n < most) values.emplace_back(n + 1);
        }
        return values;
    }
    std::vector<double> sorted;
    for (const Json& constant : constants)
        sorted.push_back(constant.get<double>());
    std::ranges::sort(sorted);
    values.emplace_back(sorted.front() - 1);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        values.emplace_back(sorted[i]);
        if (i + 1 < sorted.size()) values.emplace_back(sorted[i] / 2 + sorted[i + 1] / 2);
    }
    values.emplace_back(sorted.back() + 1);
    return values;
}

/// A text that is none of the constants.
std::string another(const std::vector<Json>& constants) {
    std::string text = "other";
    while (std::ranges::find(constants, Json(text)) != constants.end())
        text = "an" + text;
    return text;
}

struct Field {
    std::vector<Json> constants{};
    bool truth = false;                       ///< used as a condition by itself
    bool ordered = false;                     ///< compared by < and its kin
    bool presence = false;                    ///< asked whether it is there
    std::optional<std::vector<Json>> only{};  ///< the values that the schema lists
};
using Fields = std::map<Path, Field>;

/// Reads one condition into fields.
class ConditionReader {
public:
    ConditionReader(Fields& into, std::string_view alias) : into_(into), alias_(alias) {}

    bool condition(const Node& node) {
        switch (node.op) {
            case Op::logical_and:
            case Op::logical_or:
            case Op::logical_not:
                return std::ranges::all_of(node.children, [&](const Node& child) {
                    return condition(child);
                });
            case Op::equal:
            case Op::not_equal:
                return compares(node, false);
            case Op::less:
            case Op::less_equal:
            case Op::greater:
            case Op::greater_equal:
                return compares(node, true);
            case Op::in:
                return listed(node);
            case Op::has:
                return asks_presence(node);
            case Op::constant:
                return node.value.is(cel::Kind::boolean);
            default:
                return is_true(node);
        }
    }

private:
    std::optional<Path> path_of(const Node& node) const {
        if (node.op == Op::name) {
            Path path;
            for (const auto part : std::views::split(node.text, '.'))
                path.emplace_back(part.begin(), part.end());
            if (path.empty() || path.front() != alias_) return std::nullopt;
            path.erase(path.begin());
            return path;
        }
        if (node.op != Op::select) return std::nullopt;
        auto path = path_of(node.children[0]);
        if (path) path->push_back(node.text);
        return path;
    }

    Field* field(const Node& node) const {
        auto path = path_of(node);
        return path ? &into_[std::move(*path)] : nullptr;
    }

    bool is_true(const Node& node) {
        auto* const asked = field(node);
        if (asked != nullptr) asked->truth = true;
        return asked != nullptr;
    }

    bool asks_presence(const Node& node) {
        auto path = path_of(node.children[0]);
        if (!path) return false;
        path->push_back(node.text);
        into_[std::move(*path)].presence = true;
        return true;
    }

    bool compares(const Node& node, bool ordered) {
        for (const bool swapped : {false, true}) {
            const auto constant = constant_of(node.children[swapped ? 0 : 1]);
            if (!constant) continue;
            auto* const asked = field(node.children[swapped ? 1 : 0]);
            if (asked == nullptr) continue;
            asked->constants.push_back(*constant);
            asked->ordered = asked->ordered || ordered;
            return true;
        }
        return false;
    }

    bool listed(const Node& node) {
        const Node& list = node.children[1];
        auto* const asked = field(node.children[0]);
        if (asked == nullptr || list.op != Op::list) return false;
        return std::ranges::all_of(list.children, [&](const Node& child) {
            const auto constant = constant_of(child);
            if (constant) asked->constants.push_back(*constant);
            return constant.has_value();
        });
    }

    Fields& into_;
    std::string_view alias_;
};

void restrict_to(const Json& schema, Fields& fields) {
    for (auto& [path, field] : fields) {
        const Json* at = referred(schema, schema);
        for (const std::string& name : path) {
            if (at == nullptr) break;
            at = property_of(schema, *at, name);
        }
        if (at == nullptr) continue;
        if (at->contains("enum") && (*at)["enum"].is_array()) {
            field.only.emplace((*at)["enum"].begin(), (*at)["enum"].end());
        } else if (at->contains("const")) {
            field.only.emplace({(*at)["const"]});
        }
    }
}

/// False: which values matter cannot be said.
bool values_of(const Field& field, std::vector<Json>& values) {
    if (field.only) {
        values = *field.only;
        return true;
    }
    const auto all = [&](auto is) {
        return std::ranges::all_of(field.constants, [&](const Json& c) { return (c.*is)(); });
    };
    if (field.truth || (!field.constants.empty() && all(&Json::is_boolean))) {
        values = {true, false};
        return all(&Json::is_boolean);
    }
    if (field.constants.empty()) {
        values = {1};
    } else if (all(&Json::is_number)) {
        values = numbers_around(field.constants);
    } else if (all(&Json::is_string) && !field.ordered) {
        values = field.constants;
        values.emplace_back(another(field.constants));
    } else if (all(&Json::is_null)) {
        values = {nullptr, 1};
    } else {
        return false;
    }
    return true;
}

bool within(const Path& outer, const Path& inner) {
    return outer.size() < inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

/// Each token with each value for the field.
bool multiply(std::vector<Json>& tokens, const Path& path, const Field& field) {
    std::vector<Json> values;
    if (!values_of(field, values)) return false;
    std::ranges::sort(values);
    const auto rest = std::ranges::unique(values);
    values.erase(rest.begin(), rest.end());
    if (tokens.size() * (values.size() + 1) > tokens_max) return false;
    std::string pointer;
    for (const std::string& name : path)
        pointer = base::pointer_child(pointer, name);
    std::vector<Json> next;
    for (const Json& token : tokens) {
        for (const Json& value : values) {
            Json made = token;
            made[Json::json_pointer(pointer)] = value;
            next.push_back(std::move(made));
        }
        if (field.presence && !path.empty()) {
            next.push_back(token.is_null() ? Json::object() : token);
        }
    }
    tokens = std::move(next);
    return true;
}

}  // namespace

std::vector<Json> telling_tokens(std::span<const TokenCondition> conditions, const Json* schema) {
    Fields fields;
    for (const TokenCondition& condition : conditions) {
        std::vector<cel::Fault> faults;
        const Node tree = cel::parse(condition.program->source(), faults);
        if (!faults.empty() || !ConditionReader(fields, condition.alias).condition(tree)) return {};
    }
    if (fields.empty()) return {};
    if (schema != nullptr) restrict_to(*schema, fields);
    std::vector<Json> tokens{Json()};
    const Path* before = nullptr;
    for (const auto& [path, field] : fields) {
        // A field of a field that is itself compared: no token has both.
        if (before != nullptr && within(*before, path)) return {};
        before = &path;
        if (!multiply(tokens, path, field)) return {};
    }
    return tokens;
}

}  // namespace nets::analysis
