#include "cli/inline_data.hpp"

#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <utility>

namespace cli {

namespace {

Outcome<base::Json> value_of(std::string_view text, const std::string& what) {
    auto value = base::parse_json(text);
    if (value) return std::move(*value);
    auto error = std::move(value.error());
    error.message = what + ": " + error.message;
    return wrong_usage(std::move(error));
}

}  // namespace

void declare_inline_data(CLI::App& app, InlineData& given) {
    app.add_option("--input", given.input, "File with one JSON value; - = stdin");
    app.add_option("--value", given.values, "The JSON value itself")->allow_extra_args(false);
}

Outcome<std::vector<base::Json>> inline_values(const InlineData& given) {
    std::vector<base::Json> values;
    for (const auto& text : given.values) {
        auto value = value_of(text, "--value");
        if (!value) {
            value.error().error.next = "give a JSON value, such as --value '{\"name\": \"Ada\"}'";
            return std::unexpected(std::move(value.error()));
        }
        values.push_back(std::move(*value));
    }
    if (given.input.empty()) return values;
    const auto text = read_input(given.input);
    if (!text) return std::unexpected(text.error());
    auto value = value_of(*text, given.input);
    if (!value) return std::unexpected(std::move(value.error()));
    values.push_back(std::move(*value));
    return values;
}

}  // namespace cli
