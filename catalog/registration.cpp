#include "base/json.hpp"
#include "base/json_schema.hpp"
#include "catalog/builtin_ids.hpp"
#include "catalog/item.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace catalog {

using base::ErrorCode;
using base::Json;

namespace {

struct Cap {
    std::string_view name;
    std::int64_t standard;
    std::int64_t max;
};
// What a tool gets when it says nothing, and what it may ask for at most.
constexpr std::array caps = {
    Cap{"wallMs", 30'000, 300'000},
    Cap{"cpuMs", 10'000, 60'000},
    Cap{"memoryMb", 512, 16'384},
    Cap{"pids", 64, 4'096},
    Cap{"outputBytes", std::int64_t{4} << 20U, std::int64_t{64} << 20U},
    Cap{"artifactBytes", std::int64_t{64} << 20U, std::int64_t{256} << 20U},
    Cap{"cpus", 1, 64},
    Cap{"vramGb", 0, 0},
};

constexpr std::array<std::string_view, 4> runtimes = {"node", "sh", "bash", "python3"};
constexpr std::array<std::string_view, 3> effects = {"pure", "idempotent", "once"};
constexpr std::array<std::string_view, 15> known = {
    "id",
    "name",
    "runtime",
    "content",
    "contentBase64",
    "version",
    "description",
    "model",
    "effect",
    "capabilities",
    "contract",
    "caps",
    "network",
    "filename",
    "expectedVersion"
};

std::optional<std::string> from_base64(std::string_view text) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    std::uint32_t bits = 0;
    int held = 0;
    std::size_t end = text.size();
    while (end > 0 && text.size() - end < 2 && text[end - 1] == '=')
        --end;
    for (const char c : text.substr(0, end)) {
        const auto value = alphabet.find(c);
        if (value == std::string_view::npos) return std::nullopt;
        bits = (bits << 6U) | static_cast<std::uint32_t>(value);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes += static_cast<char>((bits >> static_cast<unsigned>(held)) & 0xFFU);
    }
    return bytes;
}

class Checker {
public:
    explicit Checker(const Json& body) : body_(body) {}

    std::string text(const char* key, bool required, std::size_t bytes_max) {
        const auto found = body_.find(key);
        if (found == body_.end()) {
            if (required) fault(key, fmt::format("'{}' is missing", key));
            return {};
        }
        if (!found->is_string()) {
            fault(key, "must be a string");
            return {};
        }
        auto value = found->get<std::string>();
        if (value.size() > bytes_max) fault(key, fmt::format("longer than {} bytes", bytes_max));
        if (value.find('\0') != std::string::npos) fault(key, "holds a NUL");
        return value;
    }

    template <std::size_t N>
    std::string one_of(
        const char* key, const std::array<std::string_view, N>& values, std::string_view standard
    ) {
        if (!body_.contains(key) && !standard.empty()) return std::string(standard);
        const std::string value = text(key, true, 64);
        if (!value.empty() && std::ranges::find(values, value) == values.end()) {
            fault(key, fmt::format("'{}' is not one of {}", value, fmt::join(values, ", ")));
        }
        return value;
    }

    void fault(std::string_view key, std::string message, ErrorCode code = ErrorCode::validation) {
        faults_.push_back({base::pointer_child("", key), code, std::move(message)});
    }
    std::vector<base::ErrorDetail>& faults() { return faults_; }

    Json read_caps() {
        Json made = Json::object();
        for (const auto& cap : caps)
            made[std::string(cap.name)] = cap.standard;
        const auto found = body_.find("caps");
        if (found == body_.end()) return made;
        if (!found->is_object()) {
            fault("caps", "must be an object");
            return made;
        }
        for (const auto& [key, value] : found->items()) {
            const auto* cap = std::ranges::find(caps, key, &Cap::name);
            const std::string pointer = "caps/" + key;
            if (cap == caps.end()) {
                faults_.push_back({"/" + pointer, ErrorCode::validation, "is no cap"});
            } else if (!value.is_number_integer() ||
                       value.get<std::int64_t>() < (cap->max == 0 ? 0 : 1) ||
                       value.get<std::int64_t>() > cap->max) {
                faults_.push_back(
                    {"/" + pointer,
                     ErrorCode::validation,
                     fmt::format(
                         "must be a whole number from {} to {}{}",
                         cap->max == 0 ? 0 : 1,
                         cap->max,
                         value.is_number() ? ", not " + value.dump() : ""
                     )}
                );
            } else {
                made[key] = value;
            }
        }
        return made;
    }

    // A schema, or prose, which nothing is held against.
    void read_schema(const Json& value, const std::string& pointer) {
        constexpr std::size_t schema_bytes_max = std::size_t{256} << 10U;
        if (value.is_string()) return;
        if (!value.is_object() && !value.is_boolean()) {
            faults_.push_back(
                {pointer, ErrorCode::validation, "must be a JSON Schema, or prose (a string)"}
            );
            return;
        }
        const auto bytes = base::canonical(value).size();
        if (bytes > schema_bytes_max) {
            faults_.push_back(
                {pointer,
                 ErrorCode::too_large,
                 fmt::format("{} bytes; a schema has at most {}", bytes, schema_bytes_max)}
            );
            return;
        }
        const auto compiled = base::Schema::compile(value, {.unknown_keywords_refused = true});
        if (compiled) return;
        for (auto detail : compiled.error().details) {
            detail.pointer = pointer + detail.pointer;
            faults_.push_back(std::move(detail));
        }
        if (compiled.error().details.empty())
            faults_.push_back({pointer, compiled.error().code, compiled.error().message});
    }

    void read_allow_truncated(const Json& value, const Json& contract) {
        constexpr const char* pointer = "/contract/allowTruncated";
        if (!value.is_boolean()) {
            faults_.push_back({pointer, ErrorCode::validation, "must be true or false"});
        } else if (value == true && contract.contains("output") &&
                   !contract.at("output").is_string()) {
            faults_.push_back(
                {pointer,
                 ErrorCode::validation,
                 "an answer that was cut cannot be checked against contract.output"}
            );
        }
    }

    Json read_contract() {
        const auto found = body_.find("contract");
        if (found == body_.end()) return {{"type", "script-io"}};
        if (!found->is_object()) {
            fault("contract", "must be an object");
            return {};
        }
        for (const auto& [key, value] : found->items()) {
            const std::string pointer = "/contract/" + key;
            if (key == "type") {
                if (value != "script-io")
                    faults_.push_back({pointer, ErrorCode::validation, "must be 'script-io'"});
            } else if (key == "input" || key == "output") {
                read_schema(value, pointer);
            } else if (key == "examples") {
                if (!value.is_array())
                    faults_.push_back({pointer, ErrorCode::validation, "must be a list"});
            } else if (key == "allowTruncated") {
                read_allow_truncated(value, *found);
            } else {
                faults_.push_back({pointer, ErrorCode::validation, "is unknown"});
            }
        }
        Json made = *found;
        made["type"] = "script-io";
        return made;
    }

    Json read_capabilities() {
        const auto found = body_.find("capabilities");
        if (found == body_.end()) return Json::array();
        const bool good = found->is_array() && found->size() <= 64 &&
                          std::ranges::all_of(*found, [](const Json& one) {
                              return one.is_string() &&
                                     !one.get_ref<const std::string&>().empty() &&
                                     one.get_ref<const std::string&>().size() <= 128;
                          });
        if (!good) fault("capabilities", "must be a list of at most 64 strings");
        return *found;
    }

private:
    const Json& body_;
    std::vector<base::ErrorDetail> faults_;
};

std::string extension(std::string_view runtime) {
    if (runtime == "node") return ".cjs";
    return runtime == "python3" ? ".py" : ".sh";
}

bool good_filename(std::string_view name) {
    if (name.empty() || name.size() > 128 || name[0] == '.' || name[0] == '-') return false;
    return std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    });
}

std::string read_content(const Json& body, Checker& checker) {
    const bool plain = body.contains("content");
    const bool encoded = body.contains("contentBase64");
    if (plain == encoded) {
        checker.fault("content", "give either 'content' or 'contentBase64'");
        return {};
    }
    const char* key = plain ? "content" : "contentBase64";
    if (!body.at(key).is_string()) {
        checker.fault(key, "must be a string");
        return {};
    }
    auto content = body.at(key).get<std::string>();
    if (encoded) {
        auto decoded = from_base64(content);
        if (!decoded) checker.fault(key, "is not base64");
        content = decoded.value_or("");
    }
    if (content.size() > script_bytes_max) {
        checker.fault(
            key,
            fmt::format("a script has at most {} bytes", script_bytes_max),
            ErrorCode::too_large
        );
    }
    if (content.empty()) checker.fault(key, "is empty");
    return content;
}

}  // namespace

Json ScriptRegistration::entry() const {
    return *fields;
}

base::Result<ScriptRegistration> read_script_registration(const Json& body) {
    if (!body.is_object()) {
        return base::fail(ErrorCode::validation, "a registration must be a JSON object");
    }
    Checker checker(body);
    for (const auto& [key, value] : body.items()) {
        if (std::ranges::find(known, key) == known.end()) checker.fault(key, "is unknown");
    }
    ScriptRegistration made;
    const std::string id = checker.text("id", true, 128);
    const bool id_given = body.contains("id") && body.at("id").is_string();
    if (id_given && !valid_tool_id(id)) {
        checker.fault(
            "id",
            "must be segments of a-z, 0-9, '_' and '-' joined by dots, each beginning with a "
            "letter, without '__'"
        );
    }
    if (std::ranges::find(builtin_tool_ids, id) != builtin_tool_ids.end()) {
        checker.fault("id", fmt::format("'{}' is a built-in tool; choose another id", id));
    }
    const std::string runtime = checker.one_of("runtime", runtimes, "");
    std::string name = checker.text("name", true, 256);
    made.model = checker.text("model", false, 128);
    if (body.contains("model") && !base::valid_name(made.model))
        checker.fault("model", fmt::format("'{}' is not a valid model name", made.model));
    std::string filename = checker.text("filename", false, 128);
    if (filename.empty()) filename = id + extension(runtime);
    if (!good_filename(filename) && !id.empty())
        checker.fault(
            "filename", "must be one path component of letters, digits, '.', '_' and '-'"
        );
    if (body.contains("version")) made.version = checker.text("version", true, 64);
    if (made.version && made.version->empty()) checker.fault("version", "is empty");
    if (body.contains("expectedVersion"))
        made.expected_version = checker.text("expectedVersion", true, 64);
    made.content = read_content(body, checker);
    made.sha256 = base::sha256(made.content);
    const std::string network =
        checker.one_of("network", std::array<std::string_view, 2>{"deny", "allow"}, "deny");
    if (network == "allow") {
        checker.fault("network", "'allow' is not supported yet", ErrorCode::unsupported);
    }
    Json entry = {
        {"id", id},
        {"name", std::move(name)},
        {"description", checker.text("description", false, 16'384)},
        {"status", "approved"},
        {"lifecycle", "active"},
        {"capabilities", checker.read_capabilities()},
        {"contract", checker.read_contract()},
        {"binding",
         {{"type", "script"},
          {"runtime", runtime},
          {"scriptUrn", base::blob_urn(made.sha256)},
          {"sha256", made.sha256.hex()},
          {"filename", filename},
          {"sizeBytes", made.content.size()}}},
        {"effect", checker.one_of("effect", effects, "once")},
        {"deterministic", false},
        {"approval", "none"},
        {"caps", checker.read_caps()},
        {"network", network},
        {"sandbox", {{"backend", "bwrap"}, {"image", nullptr}}},
        {"costModel", {{"fixedUsd", 0}, {"vramHourUsd", 0}}},
        {"renderHints", Json::object()},
        {"links", Json::object()},
        {"files", Json::array()},
    };
    if (!checker.faults().empty()) {
        auto& faults = checker.faults();
        return base::fail(base::Error{
            faults.front().code,
            fmt::format("the registration has {} faults", faults.size()),
            "mend these and send it again",
            std::move(faults)
        });
    }
    made.fields = std::make_shared<const Json>(std::move(entry));
    return made;
}

}  // namespace catalog
