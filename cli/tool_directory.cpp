#include "cli/tool_directory.hpp"

#include "base/files.hpp"
#include "jobs/base64.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t document_bytes_max = std::size_t{1} << 20U;
constexpr std::size_t script_bytes_max = std::size_t{16} << 20U;  // the master has the last word

// A name of a file in the tool's own directory, or below it.
bool stays_inside(const fs::path& name) {
    if (name.empty() || name.is_absolute()) return false;
    for (const auto& part : name) {
        if (part == "..") return false;
    }
    return true;
}

}  // namespace

Outcome<base::Json> read_tool(const fs::path& path) {
    std::error_code ignored;
    const auto document = fs::is_directory(path, ignored) ? path / "tool.json" : path;
    const auto text = base::read_file(document, document_bytes_max);
    if (!text) {
        return wrong_usage(
            text.error().message, "give a directory with a tool.json, or such a file itself"
        );
    }
    auto body = base::parse_json(*text);
    if (!body || !body->is_object()) {
        return wrong_usage(
            document.string() + ": " + (body ? "is no JSON object" : body.error().message),
            "a tool.json has id, name, runtime and file; a script is named by its 'file'"
        );
    }
    const auto file = body->find("file");
    if (file == body->end()) return std::move(*body);
    const auto name = file->is_string() ? fs::path(file->get<std::string>()) : fs::path();
    if (!stays_inside(name)) {
        return wrong_usage(
            fmt::format("{}: 'file' must name a file beside it", document.string()),
            "put the script into the tool's directory"
        );
    }
    auto script = base::read_file(document.parent_path() / name, script_bytes_max);
    if (!script) return wrong_usage(std::move(script.error()));
    body->erase("file");
    if (!body->contains("filename")) (*body)["filename"] = name.filename().string();
    if (base::valid_utf8(*script)) {
        (*body)["content"] = std::move(*script);
    } else {
        (*body)["contentBase64"] = jobs::base64_encode(*script);
    }
    return std::move(*body);
}

}  // namespace cli
