#include "nets/cel/evaluation.hpp"
#include "nets/cel/functions.hpp"
#include "nets/cel/literal.hpp"

#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace nets::cel {

namespace {

constexpr std::size_t shown_bytes_max = 40;

}  // namespace

std::string shown(const Value& value) {
    switch (value.kind()) {
        case Kind::null:
            return "null";
        case Kind::boolean:
            return value.as_boolean() ? "true" : "false";
        case Kind::integer:
            return fmt::format("{}", value.as_integer());
        case Kind::uinteger:
            return fmt::format("{}u", value.as_uinteger());
        case Kind::real:
            return real_text(value.as_real());
        case Kind::string: {
            std::string_view text = value.text();
            if (text.size() <= shown_bytes_max) return fmt::format("'{}'", text);
            std::size_t end = shown_bytes_max;
            while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80)
                --end;
            return fmt::format("'{}...'", text.substr(0, end));
        }
        case Kind::timestamp:
            return timestamp_text(value.as_span());
        case Kind::duration:
            return duration_text(value.as_span());
        case Kind::bytes:
        case Kind::list:
        case Kind::map:
        case Kind::type:
        case Kind::optional:
            break;
    }
    return fmt::format("{}", a_kind(value.kind()));
}

std::optional<std::size_t> list_index(const Value& key, std::size_t size) {
    std::uint64_t index = 0;
    if (key.is(Kind::integer) && key.as_integer() >= 0) {
        index = static_cast<std::uint64_t>(key.as_integer());
    } else if (key.is(Kind::uinteger)) {
        index = key.as_uinteger();
    } else if (key.is(Kind::real) && key.as_real() >= 0 && key.as_real() < 0x1p53 &&
               std::trunc(key.as_real()) == key.as_real()) {
        index = static_cast<std::uint64_t>(key.as_real());
    } else {
        return std::nullopt;
    }
    if (index >= size) return std::nullopt;
    return index;
}

base::Result<Value> Evaluation::select(const Node& node) {
    base::Result<Value> scratch;
    const Value* operand = look(node.children[0], scratch);
    if (!operand) return scratch;
    if (node.op == Op::optional_select || operand->is(Kind::optional)) {
        return optional_field_of(node, *operand);
    }
    return field_of(node, *operand);
}

base::Result<Value> Evaluation::field_of(const Node& node, const Value& operand) {
    if (!operand.is(Kind::map)) {
        return failed(node, fmt::format("{} has no field '{}'", a_kind(operand.kind()), node.text));
    }
    if (auto found = operand.find(node.text)) return std::move(*found);
    return failed(node, fmt::format("there is no field '{}'", node.text));
}

base::Result<Value> Evaluation::optional_field_of(const Node& node, const Value& operand) {
    const Value* map = &operand;
    if (operand.is(Kind::optional)) {
        map = operand.inner();
        if (!map) return Value::optional_none();
    }
    if (!map->is(Kind::map)) {
        return failed(node, fmt::format("{} has no field '{}'", a_kind(map->kind()), node.text));
    }
    auto found = map->find(node.text);
    return found ? Value::optional_of(std::move(*found)) : Value::optional_none();
}

base::Result<Value> Evaluation::has(const Node& node) {
    base::Result<Value> scratch;
    const Value* operand = look(node.children[0], scratch);
    if (!operand) return scratch;
    if (operand->is(Kind::optional)) {
        const Value* inner = operand->inner();
        return Value::boolean(inner && inner->is(Kind::map) && inner->find(node.text).has_value());
    }
    if (!operand->is(Kind::map)) {
        return failed(
            node, fmt::format("{} has no field '{}'", a_kind(operand->kind()), node.text)
        );
    }
    return Value::boolean(operand->find(node.text).has_value());
}

base::Result<Value> Evaluation::item(const Node& node) {
    base::Result<Value> container_scratch;
    const Value* container = look(node.children[0], container_scratch);
    if (!container) return container_scratch;
    base::Result<Value> key_scratch;
    const Value* key = look(node.children[1], key_scratch);
    if (!key) return key_scratch;
    if (node.op == Op::optional_item || container->is(Kind::optional)) {
        return optional_item_of(node, *container, *key);
    }
    return item_of(node, *container, *key);
}

base::Result<Value> Evaluation::item_of(
    const Node& node, const Value& container, const Value& key
) {
    if (container.is(Kind::list)) {
        if (const auto index = list_index(key, container.size())) return container.at(*index);
        if (!key.is_number()) {
            return failed(node, fmt::format("a list is indexed by a number, not {}", shown(key)));
        }
        return failed(
            node,
            fmt::format("there is no element {} in a list of {}", shown(key), container.size())
        );
    }
    if (!container.is(Kind::map)) {
        return failed(node, fmt::format("{} cannot be indexed", a_kind(container.kind())));
    }
    if (auto found = container.find(key)) return std::move(*found);
    return failed(node, fmt::format("there is no key {}", shown(key)));
}

base::Result<Value> Evaluation::optional_item_of(
    const Node& node, const Value& container, const Value& key
) {
    const Value* inner = &container;
    if (container.is(Kind::optional)) {
        inner = container.inner();
        if (!inner) return Value::optional_none();
    }
    if (inner->is(Kind::list)) {
        if (!key.is_number()) return item_of(node, *inner, key);
        const auto index = list_index(key, inner->size());
        return index ? Value::optional_of(inner->at(*index)) : Value::optional_none();
    }
    if (!inner->is(Kind::map)) return item_of(node, *inner, key);
    auto found = inner->find(key);
    return found ? Value::optional_of(std::move(*found)) : Value::optional_none();
}

base::Result<Value> Evaluation::list(const Node& node) {
    std::vector<Value> elements;
    elements.reserve(node.children.size());
    for (const Node& child : node.children) {
        auto element = run(child);
        if (!element) return element;
        if (!child.optional) {
            elements.push_back(std::move(*element));
            continue;
        }
        if (!element->is(Kind::optional)) {
            return failed(
                child, fmt::format("[?x] takes an optional, not {}", a_kind(element->kind()))
            );
        }
        if (const Value* inner = element->inner()) elements.push_back(*inner);
    }
    return Value::list(std::move(elements));
}

base::Result<Value> Evaluation::map(const Node& node) {
    std::vector<std::pair<Value, Value>> entries;
    entries.reserve(node.children.size() / 2);
    for (std::size_t i = 0; i + 1 < node.children.size(); i += 2) {
        auto key = run(node.children[i]);
        if (!key) return key;
        auto value = run(node.children[i + 1]);
        if (!value) return value;
        if (!node.children[i].optional) {
            entries.emplace_back(std::move(*key), std::move(*value));
            continue;
        }
        if (!value->is(Kind::optional)) {
            return failed(
                node.children[i],
                fmt::format("{{?key: x}} takes an optional, not {}", a_kind(value->kind()))
            );
        }
        if (const Value* inner = value->inner()) entries.emplace_back(std::move(*key), *inner);
    }
    return located(node, Value::map(std::move(entries)));
}

}  // namespace nets::cel
