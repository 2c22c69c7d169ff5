#include "nets/template.hpp"

#include "base/json.hpp"
#include "nets/interpolation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace nets {

namespace {

// RFC 8785 orders keys by UTF-16 code units: byte order, except that characters beyond U+FFFF (lead
// byte F0 or more) come before those from U+E000 (lead bytes EE and EF).
bool canonical_less(std::string_view left, std::string_view right) {
    const auto [l, r] = std::ranges::mismatch(left, right);
    if (l == left.end() || r == right.end()) return l == left.end() && r != right.end();
    const auto rank = [](char c) {
        const int byte = static_cast<unsigned char>(c);
        return byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte;
    };
    return rank(*l) < rank(*r);
}

base::Error out_of_bytes() {
    return {
        base::ErrorCode::limit,
        fmt::format("the template renders to more than {} bytes", rendered_bytes_max),
        "put less into one token; large material belongs into a blob",
        {}
    };
}

// Writing costs a step for each 64 bytes, so that repeating one large value is bounded too.
base::Result<void> pay(cel::Budget& budget, std::size_t bytes) {
    const std::uint64_t steps = 1 + (bytes / 64);
    if (budget.steps < steps) {
        budget.steps = 0;
        return base::fail(base::ErrorCode::limit, "the template needs more steps than it may take");
    }
    budget.steps -= steps;
    return {};
}

base::Error in_expression(base::Error error, const cel::Program& program) {
    error.message = fmt::format("${{{}}}: {}", program.source(), error.message);
    return error;
}

// CEL's own `string()` decides how a number looks as text.
base::Result<void> append_number(std::string& out, const cel::Value& value, cel::Budget& budget) {
    static const auto program = cel::Program::compile("string(value)", cel::Scope{{"value"}});
    base::check(program.has_value(), "string(value) is an expression");
    const auto text = program->evaluate(std::span(&value, 1), budget);
    if (!text) return base::fail(text.error());
    out += text->text();
    return {};
}

base::Result<void> append_text(std::string& out, const cel::Value& value, cel::Budget& budget) {
    switch (value.kind()) {
        case cel::Kind::string:
            out += value.text();
            return {};
        case cel::Kind::boolean:
            out += value.as_boolean() ? "true" : "false";
            return {};
        case cel::Kind::integer:
            fmt::format_to(std::back_inserter(out), "{}", value.as_integer());
            return {};
        case cel::Kind::uinteger:
            fmt::format_to(std::back_inserter(out), "{}", value.as_uinteger());
            return {};
        case cel::Kind::real:
            return append_number(out, value, budget);
        case cel::Kind::optional:
            if (value.inner() != nullptr) return append_text(out, *value.inner(), budget);
            [[fallthrough]];
        case cel::Kind::null:
            return base::fail(
                base::ErrorCode::validation,
                "null has no text",
                "say what to write instead: ${x == null ? \"\" : x}"
            );
        case cel::Kind::list:
        case cel::Kind::map:
        case cel::Kind::type:
            return cel::append_canonical(out, value);
        case cel::Kind::bytes:
        case cel::Kind::timestamp:
        case cel::Kind::duration: {
            std::string quoted;
            if (auto done = cel::append_canonical(quoted, value); !done) return done;
            out.append(quoted, 1, quoted.size() - 2);  // these texts hold nothing that is escaped
            return {};
        }
    }
    std::unreachable();
}

}  // namespace

struct Template::Builder {
    const cel::Scope& scope;
    Template made;
    std::vector<base::ErrorDetail> faults;

    void fault(const std::string& pointer, std::string message) {
        faults.push_back({pointer, base::ErrorCode::validation, std::move(message)});
    }

    std::string& ready() {
        if (made.parts_.empty() || !std::holds_alternative<std::string>(made.parts_.back())) {
            made.parts_.emplace_back(std::string());
        }
        return std::get<std::string>(made.parts_.back());
    }

    std::optional<cel::Program> expression(const std::string& source, const std::string& pointer) {
        if (source.find_first_not_of(" \t\r\n") == std::string::npos) {
            fault(pointer, "'${}' holds no expression");
            return std::nullopt;
        }
        auto program = cel::Program::compile(source, scope);
        if (program) {
            for (std::size_t i = 0; i < scope.names.size(); ++i) {
                if (program->uses(i)) made.uses_[i] = true;
            }
            return std::move(*program);
        }
        const auto message = [&](const std::string& why) {
            return fmt::format("${{{}}}: {}", source, why);
        };
        for (const auto& detail : program.error().details)
            faults.push_back({pointer, detail.code, message(detail.message)});
        if (program.error().details.empty()) {
            faults.push_back({pointer, program.error().code, message(program.error().message)});
        }
        return std::nullopt;
    }

    void string(const std::string& source, const std::string& pointer, std::size_t depth) {
        auto pieces = split_interpolation(source);
        if (!pieces) return fault(pointer, pieces.error().message + "; " + pieces.error().next);
        if (pieces->empty() || (pieces->size() == 1 && !pieces->front().expression)) {
            const std::string_view text =
                pieces->empty() ? "" : std::string_view((*pieces)[0].text);
            return base::append_canonical_string(ready(), text);
        }
        if (pieces->size() == 1) {
            if (auto program = expression(pieces->front().text, pointer)) {
                made.parts_.emplace_back(Value{std::move(*program), depth});
            }
            return;
        }
        Text text;
        for (auto& piece : *pieces) {
            if (!piece.expression) {
                text.emplace_back(std::move(piece.text));
            } else if (auto program = expression(piece.text, pointer)) {
                text.emplace_back(std::move(*program));
            }
        }
        made.parts_.emplace_back(std::move(text));
    }

    void object(const base::Json& source, const std::string& pointer, std::size_t depth) {
        struct Member {
            std::string key;
            const std::string* key_in_source;
            const base::Json* value;
        };
        std::vector<Member> members;
        for (const auto& [key, value] : source.get_ref<const base::Json::object_t&>()) {
            const auto pieces = split_interpolation(key);
            const bool plain =
                pieces && (pieces->empty() || (pieces->size() == 1 && !(*pieces)[0].expression));
            if (!plain) {
                fault(
                    base::pointer_child(pointer, key),
                    "a key is plain text and cannot hold an expression; '$${' writes '${'"
                );
                continue;
            }
            members.push_back({pieces->empty() ? "" : (*pieces)[0].text, &key, &value});
        }
        std::ranges::sort(members, canonical_less, &Member::key);
        ready() += '{';
        bool first = true;
        for (const auto& [key, key_in_source, value] : members) {
            if (!first) ready() += ',';
            first = false;
            base::append_canonical_string(ready(), key);
            ready() += ':';
            add(*value, base::pointer_child(pointer, *key_in_source), depth + 1);
        }
        ready() += '}';
    }

    void add(const base::Json& source, const std::string& pointer, std::size_t depth) {
        if (depth > template_depth_max) {
            return fault(
                pointer, fmt::format("a template nests at most {} levels", template_depth_max)
            );
        }
        if (source.is_string()) return string(source.get_ref<const std::string&>(), pointer, depth);
        if (source.is_object()) return object(source, pointer, depth);
        if (!source.is_array()) return base::append_canonical(ready(), source);
        ready() += '[';
        for (std::size_t i = 0; i < source.size(); ++i) {
            if (i > 0) ready() += ',';
            add(source[i], fmt::format("{}/{}", pointer, i), depth + 1);
        }
        ready() += ']';
    }
};

base::Result<Template> Template::compile(
    const base::Json& source, const cel::Scope& scope, std::string_view pointer
) {
    Builder builder{scope, {}, {}};
    builder.made.uses_.resize(scope.names.size());
    builder.add(source, std::string(pointer), 0);
    if (builder.faults.empty()) return std::move(builder.made);
    return base::fail(
        {base::ErrorCode::validation,
         fmt::format("the template has {} fault(s)", builder.faults.size()),
         {},
         std::move(builder.faults)}
    );
}

// One call of `render`: what its expressions see and may spend.
struct Template::Rendering {
    std::span<const cel::Value> values;
    cel::Budget& budget;

    template <class Append>
    base::Result<void> expression(const cel::Program& program, std::string& to, Append append) {
        const auto value = program.evaluate(values, budget);
        if (!value) return base::fail(in_expression(value.error(), program));
        const std::size_t before = to.size();
        if (auto done = append(*value); !done) {
            return base::fail(in_expression(done.error(), program));
        }
        return pay(budget, to.size() - before);
    }

    base::Result<void> text(const Text& parts, std::string& out) {
        std::string joined;
        for (const auto& part : parts) {
            if (const auto* plain = std::get_if<std::string>(&part)) {
                joined += *plain;
                continue;
            }
            auto done =
                expression(std::get<cel::Program>(part), joined, [&](const cel::Value& value) {
                    return append_text(joined, value, budget);
                });
            if (!done) return done;
            if (joined.size() > rendered_bytes_max) return base::fail(out_of_bytes());
        }
        base::append_canonical_string(out, joined);
        return {};
    }

    base::Result<void> part(const Part& part, std::string& out) {
        if (const auto* ready = std::get_if<std::string>(&part)) {
            out += *ready;
            return {};
        }
        const auto* placed = std::get_if<Value>(&part);
        if (placed == nullptr) return text(std::get<Text>(part), out);
        return expression(placed->program, out, [&](const cel::Value& value) {
            return cel::append_canonical(
                out, value, {.depth_max = rendered_depth_max - placed->depth}
            );
        });
    }
};

base::Result<void> Template::render(
    std::string& out, std::span<const cel::Value> values, cel::Budget& budget
) const {
    const std::size_t begin = out.size();
    Rendering rendering{values, budget};
    if (parts_.empty()) out += "null";
    for (const auto& part : parts_) {
        auto done = rendering.part(part, out);
        if (done && out.size() - begin > rendered_bytes_max) done = base::fail(out_of_bytes());
        if (done) continue;
        out.resize(begin);
        return done;
    }
    return {};
}

int Template::bare_name() const {
    if (parts_.size() != 1) return -1;
    const auto* placed = std::get_if<Value>(&parts_.front());
    return placed == nullptr ? -1 : placed->program.bare_name();
}

bool Template::constant() const {
    return std::ranges::all_of(parts_, [](const Part& part) {
        return std::holds_alternative<std::string>(part);
    });
}

}  // namespace nets
