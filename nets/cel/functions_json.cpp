#include "nets/cel/base64.hpp"
#include "nets/cel/functions.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

// Text in and out: JSON, base64, URLs.
namespace nets::cel {

namespace {

// A parsed value takes far more memory than its text.
constexpr std::size_t parsed_bytes_per_step = 2;

base::Result<Value> json_parse(Arguments arguments, Budget& budget) {
    const std::string_view text = arguments[0].text();
    if (!spend(budget, text.size() / parsed_bytes_per_step)) return out_of_steps();
    const auto parsed = base::parse_json(text);
    if (!parsed) return std::unexpected(parsed.error());
    return Value::owned_json(*parsed);
}

base::Result<Value> json_format(Arguments arguments, Budget& budget) {
    WriteLimits limits;
    limits.bytes_max = std::min<std::size_t>(limits.bytes_max, budget.steps * text_bytes_per_step);
    std::string text;
    if (auto done = append_canonical(text, arguments[0], limits); !done) {
        return std::unexpected(std::move(done.error()));
    }
    if (!spend_text(budget, text.size())) return out_of_steps();
    return Value::string(std::move(text));
}

base::Result<Value> base64_encode(Arguments arguments, Budget& budget) {
    if (!spend_text(budget, 2 * arguments[0].text().size())) return out_of_steps();
    std::string text;
    append_base64(text, arguments[0].text());
    return Value::string(std::move(text));
}

base::Result<Value> base64_decode(Arguments arguments, Budget& budget) {
    if (!spend_text(budget, arguments[0].text().size())) return out_of_steps();
    auto bytes = from_base64(arguments[0].text());
    if (!bytes) return wrong("the text is not base64");
    return Value::bytes(std::move(*bytes));
}

// Percent-encodes all but RFC 3986's unreserved characters.
base::Result<Value> url_encode(Arguments arguments, Budget& budget) {
    constexpr std::string_view marks = "-._~";
    if (!spend_text(budget, 3 * arguments[0].text().size())) return out_of_steps();
    std::string out;
    for (const char c : arguments[0].text()) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter || (c >= '0' && c <= '9') || marks.find(c) != std::string_view::npos) {
            out += c;
        } else {
            fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
        }
    }
    return Value::string(std::move(out));
}

}  // namespace

void add_json_functions(std::vector<Function>& all) {
    const Kinds text = kinds(Kind::string);
    const Kinds bytes = kinds(Kind::bytes);
    all.push_back({"json.parse", false, {text}, std::nullopt, json_parse});
    all.push_back({"json.format", false, {any_kind}, Kind::string, json_format});
    all.push_back({"base64.encode", false, {bytes}, Kind::string, base64_encode});
    all.push_back({"base64.decode", false, {text}, Kind::bytes, base64_decode});
    all.push_back({"url.encode", false, {text}, Kind::string, url_encode});
}

}  // namespace nets::cel
