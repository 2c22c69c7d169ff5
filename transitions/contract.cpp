#include "transitions/contract.hpp"

#include "base/limits.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <utility>

namespace transitions {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

Result<std::optional<base::Schema>> schema_of(const Json& contract, const char* name) {
    const auto found = contract.find(name);
    if (found == contract.end() || found->is_string()) return std::nullopt;
    auto compiled = base::Schema::compile(*found);
    if (compiled) return std::optional(std::move(*compiled));
    auto error = std::move(compiled.error());
    error.message = fmt::format("the tool's contract.{} is no schema: {}", name, error.message);
    return fail(std::move(error));
}

std::string defaults_of(const Json& contract) {
    Json defaults = Json::object();
    const auto input = contract.find("input");
    if (input == contract.end() || !input->is_object()) return "{}";
    const auto properties = input->find("properties");
    if (properties == input->end() || !properties->is_object()) return "{}";
    for (const auto& [name, schema] : properties->items()) {
        if (schema.is_object() && schema.contains("default")) defaults[name] = schema["default"];
    }
    return base::canonical(defaults);
}

Result<std::shared_ptr<const Contract>> compile(const catalog::Item& item) {
    auto made = std::make_shared<Contract>();
    const auto entry = base::parse_json(item.entry, base::limits::stored);
    if (!entry) return fail(entry.error());
    const auto contract = entry->find("contract");
    if (contract == entry->end() || !contract->is_object()) return made;
    auto input = schema_of(*contract, "input");
    if (!input) return fail(std::move(input.error()));
    auto output = schema_of(*contract, "output");
    if (!output) return fail(std::move(output.error()));
    made->input = std::move(*input);
    made->output = std::move(*output);
    made->defaults = defaults_of(*contract);
    const auto cut = contract->find("allowTruncated");
    made->allow_truncated = cut != contract->end() && *cut == true;
    return made;
}

}  // namespace

Result<std::string> Contract::arguments(std::string_view given) const {
    auto arguments = base::parse_json(given);
    if (!arguments) return fail(std::move(arguments.error()));
    std::vector<base::ErrorDetail> faults;
    if (arguments->is_object()) {
        for (const auto& [name, value] : arguments->items()) {
            if (name.starts_with('_')) {
                faults.push_back({
                    base::pointer_child("", name),
                    ErrorCode::validation,
                    "names that begin with '_' are reserved",
                });
            }
        }
        if (!defaults.empty()) {
            const auto standard = base::parse_json(defaults, base::limits::stored);
            if (!standard) return fail(standard.error());
            for (const auto& [name, value] : standard->items())
                if (!arguments->contains(name)) (*arguments)[name] = value;
        }
    }
    if (input) {
        if (auto fits = input->validate(*arguments); !fits) {
            if (fits.error().details.empty()) return fail(std::move(fits.error()));
            for (auto& detail : fits.error().details)
                faults.push_back(std::move(detail));
        }
    }
    if (faults.empty()) return base::canonical(*arguments);
    return fail(base::Error{
        ErrorCode::validation,
        fmt::format("the arguments do not fit the tool's contract: {}", base::text(faults.front())),
        "mend what the pointers name",
        std::move(faults)
    });
}

Result<void> Contract::answer(std::string_view data) const {
    if (!output) return {};
    const auto value = base::parse_json(data);
    if (!value) return fail(ErrorCode::bad_output, value.error().message);
    auto fits = output->validate(*value);
    if (fits) return {};
    auto error = std::move(fits.error());
    if (error.details.empty()) return fail(std::move(error));
    error.code = ErrorCode::bad_output;
    error.message = fmt::format(
        "the tool's answer does not fit its contract: {}", base::text(error.details.front())
    );
    return fail(std::move(error));
}

Result<std::shared_ptr<const Contract>> Contracts::of(const catalog::Item& item) {
    auto found = kept_.with([&](Kept& kept) -> std::shared_ptr<const Contract> {
        const auto entry = kept.find(item.version_hash);
        return entry == kept.end() ? nullptr : entry->second;
    });
    if (found) return found;
    auto made = compile(item);
    if (!made) return made;
    kept_.with([&](Kept& kept) {
        if (kept.size() >= kept_max) kept.clear();
        kept.emplace(item.version_hash, *made);
    });
    return made;
}

}  // namespace transitions
