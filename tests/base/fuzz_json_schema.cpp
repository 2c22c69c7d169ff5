// A schema and a value, as `{"schema": ..., "value": ...}`; any bytes that are not that are taken
// for a regular expression. Nothing may crash or run without end.
#include "base/json.hpp"
#include "base/json_schema.hpp"
#include "base/json_schema_pattern.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto input = base::parse_json(text);
    if (!input || !input->is_object() || !input->contains("schema")) {
        if (!base::valid_utf8(text)) return 0;
        if (const auto pattern = base::schema::Pattern::compile(text)) {
            static_cast<void>(pattern->found_in(text));
        }
        return 0;
    }
    base::SchemaOptions options{.format_assertions = size % 2 == 0};
    options.limits.steps_max = 100'000;
    const auto schema = base::Schema::compile((*input)["schema"], options);
    if (!schema) {
        base::check(!schema.error().message.empty(), "a refusal says why");
        return 0;
    }
    const auto valid = schema->validate(input->value("value", base::Json()));
    base::check(
        valid || valid.error().code == base::ErrorCode::limit || !valid.error().details.empty(),
        "a misfit has a place"
    );
    return 0;
}
