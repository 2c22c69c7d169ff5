#include "jobs/wire.hpp"

#include "jobs/base64.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace jobs::wire {

ObjectReader::ObjectReader(const base::Json& value, std::string pointer, Faults& faults)
    : pointer_(std::move(pointer)), faults_(faults) {
    if (value.is_object()) {
        object_ = &value;
    } else {
        faults_.push_back({pointer_, base::ErrorCode::validation, "is not an object"});
    }
}

std::string ObjectReader::child(std::string_view key) const {
    return base::pointer_child(pointer_, key);
}

void ObjectReader::fault(std::string_view key, std::string message) {
    faults_.push_back({child(key), base::ErrorCode::validation, std::move(message)});
}

const base::Json* ObjectReader::optional(std::string_view key) {
    known_.emplace(key);
    if (object_ == nullptr) return nullptr;
    const auto found = object_->find(key);
    return found == object_->end() ? nullptr : &*found;
}

const base::Json* ObjectReader::required(std::string_view key) {
    const auto* value = optional(key);
    if (value == nullptr && object_ != nullptr) fault(key, "is missing");
    return value;
}

bool ObjectReader::fits(std::string pointer, const base::Json& value, TextRule rule) {
    const auto fault = [&](std::string message) {
        faults_.push_back({std::move(pointer), base::ErrorCode::validation, std::move(message)});
        return false;
    };
    if (!value.is_string()) return fault("is not a string");
    const auto& text = value.get_ref<const std::string&>();
    if (text.size() > rule.bytes_max) {
        return fault(fmt::format("has {} bytes; the limit is {}", text.size(), rule.bytes_max));
    }
    if (text.empty() && !rule.may_be_empty) return fault("is empty");
    return true;
}

std::string ObjectReader::text(std::string_view key, TextRule rule) {
    const auto* value = required(key);
    if (value == nullptr || !fits(child(key), *value, rule)) return {};
    return value->get<std::string>();
}

std::optional<std::string> ObjectReader::optional_text(std::string_view key, TextRule rule) {
    const auto* value = optional(key);
    if (value == nullptr || !fits(child(key), *value, rule)) return std::nullopt;
    return value->get<std::string>();
}

std::optional<std::int64_t> ObjectReader::optional_integer(std::string_view key, IntegerRule rule) {
    const auto* value = optional(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number_integer()) {
        fault(key, "is not an integer");
        return std::nullopt;
    }
    const auto number = value->get<std::int64_t>();
    // What only an unsigned number can hold would come out as a negative one.
    const bool beyond = value->is_number_unsigned() && number < 0;
    if (beyond || number < rule.min || number > rule.max) {
        fault(key, fmt::format("is {}; it must be {} to {}", value->dump(), rule.min, rule.max));
        return std::nullopt;
    }
    return number;
}

std::int64_t ObjectReader::integer(std::string_view key, IntegerRule rule) {
    if (required(key) == nullptr) return rule.min;
    return optional_integer(key, rule).value_or(rule.min);
}

double ObjectReader::number(std::string_view key, double min, double max) {
    const auto* value = required(key);
    if (value == nullptr) return min;
    if (!value->is_number()) {
        fault(key, "is not a number");
        return min;
    }
    const auto number = value->get<double>();
    if (number < min || number > max) {
        fault(key, fmt::format("is {}; it must be {} to {}", number, min, max));
        return min;
    }
    return number;
}

bool ObjectReader::boolean(std::string_view key) {
    const auto* value = required(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) {
        fault(key, "is not true or false");
        return false;
    }
    return value->get<bool>();
}

base::Digest ObjectReader::digest(std::string_view key) {
    const auto* value = required(key);
    if (value == nullptr || !fits(child(key), *value, {})) return {};
    const auto digest = base::Digest::from_hex(value->get_ref<const std::string&>());
    if (!digest) fault(key, "is not a sha256 (64 lower-case hex digits)");
    return digest.value_or(base::Digest{});
}

std::optional<std::string> ObjectReader::optional_bytes(std::string_view key, TextRule rule) {
    const std::string encoded_key = std::string(key) + "Base64";
    auto plain = optional_text(key, rule);
    const auto encoded = optional_text(encoded_key, {rule.bytes_max / 3 * 4 + 8});
    if (!encoded) return plain;
    if (plain) {
        fault(encoded_key, fmt::format("is given together with '{}'", key));
        return plain;
    }
    auto bytes = base64_decode(*encoded);
    if (!bytes) {
        fault(encoded_key, "is not base64");
    } else if (bytes->size() > rule.bytes_max) {
        fault(
            encoded_key,
            fmt::format("holds {} bytes; the limit is {}", bytes->size(), rule.bytes_max)
        );
    }
    return bytes;
}

std::vector<std::string> ObjectReader::texts(
    std::string_view key, std::size_t count_max, TextRule rule
) {
    std::vector<std::string> out;
    each(key, count_max, [&](const base::Json& value, const std::string& pointer) {
        if (fits(pointer, value, rule)) out.push_back(value);
    });
    return out;
}

std::map<std::string, std::string> ObjectReader::text_map(
    std::string_view key, std::size_t count_max
) {
    std::map<std::string, std::string> out;
    const auto* value = optional(key);
    if (value == nullptr) return out;
    if (!value->is_object()) {
        fault(key, "is not an object");
        return out;
    }
    if (value->size() > count_max) {
        fault(key, fmt::format("has {} members; the limit is {}", value->size(), count_max));
        return out;
    }
    ObjectReader members(*value, child(key), faults_);
    for (const auto& [name, text] : value->items()) {
        if (members.fits(members.child(name), text, {})) out.emplace(name, text.get<std::string>());
    }
    return out;
}

void ObjectReader::finish() {
    if (object_ == nullptr) return;
    for (const auto& [key, value] : object_->items()) {
        if (!known_.contains(key)) fault(key, "is not a known field");
    }
}

const base::Json* ObjectReader::array(std::string_view key, std::size_t count_max) {
    const auto* value = optional(key);
    if (value == nullptr) return nullptr;
    if (!value->is_array()) {
        fault(key, "is not an array");
        return nullptr;
    }
    if (value->size() > count_max) {
        fault(key, fmt::format("has {} elements; the limit is {}", value->size(), count_max));
        return nullptr;
    }
    return value;
}

std::size_t ObjectReader::size(const base::Json& list) {
    return list.size();
}

const base::Json& ObjectReader::element(const base::Json& list, std::size_t i) {
    return list[i];
}

void put_bytes(base::Json& object, const std::string& key, std::string_view bytes) {
    if (base::valid_utf8(bytes)) {
        object[key] = bytes;
    } else {
        object[key + "Base64"] = base64_encode(bytes);
    }
}

base::Error error(std::string_view what, Faults faults) {
    auto message = fmt::format(
        "{} has {} fault{}; the first: '{}' {}",
        what,
        faults.size(),
        faults.size() == 1 ? "" : "s",
        faults.front().pointer,
        faults.front().message
    );
    return {base::ErrorCode::validation, std::move(message), {}, std::move(faults)};
}

}  // namespace jobs::wire
