#include "cli/tool_directory.hpp"

#include "base/files.hpp"
#include "blobstore/archive.hpp"
#include "executor/open_beneath.hpp"
#include "jobs/base64.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t document_bytes_max = std::size_t{1} << 20U;
constexpr std::size_t script_bytes_max = std::size_t{16} << 20U;  // the master has the last word

bool stays_inside(const fs::path& name) {
    return !name.empty() && name.is_relative() && !name.native().contains('\0') &&
           std::ranges::find(name, "..") == name.end();
}

// A tool's directory may come from elsewhere: a link in it to a key of this user would be uploaded,
// and a FIFO would be waited for.
base::Result<std::string> read_beneath(
    const base::FileDescriptor& folder, const fs::path& name, std::size_t bytes_max
) {
    const auto file = executor::open_beneath(folder.value(), name.string(), O_RDONLY | O_NONBLOCK);
    constexpr const char* next =
        "no symbolic link is followed: put the file itself into the tool's directory";
    if (!file) {
        auto error = file.error();
        error.next = next;
        return base::fail(std::move(error));
    }
    struct stat status{};
    if (::fstat(file->value(), &status) != 0) return base::fail(base::errno_error("stat"));
    if (!S_ISREG(status.st_mode)) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format("{} is not a regular file", name.string()),
            next
        );
    }
    std::string bytes;
    const auto source = blobstore::source_from(file->value());
    for (;;) {
        const auto piece = source();
        if (!piece) return base::fail(piece.error());
        if (piece->empty()) return bytes;
        bytes += *piece;
        if (bytes.size() <= bytes_max) continue;
        return base::fail(
            base::ErrorCode::too_large,
            fmt::format("{} has more than {} bytes", name.string(), bytes_max)
        );
    }
}

// Sorted; what documents the tool does not belong to its program.
std::vector<std::string> others(
    const fs::path& folder, const fs::path& document, const fs::path& script
) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
        const auto name = at->path().lexically_relative(folder);
        const bool documents =
            name == document || name == "README.md" || *name.begin() == "examples";
        const bool known = documents || name == script.lexically_normal();
        std::error_code ignored;
        if (!known && !at->is_directory(ignored)) names.push_back(name.string());
    }
    std::ranges::sort(names);
    return names;
}

Outcome<base::Json> read_document(const base::FileDescriptor& folder, const fs::path& document) {
    const auto text = read_beneath(folder, document, document_bytes_max);
    if (!text && text.error().code == base::ErrorCode::not_found) {
        return wrong_usage(
            text.error().message, "give a directory with a tool.json, or such a file itself"
        );
    }
    if (!text) return wrong_usage(text.error());
    auto body = base::parse_json(*text);
    if (body && body->is_object()) return std::move(*body);
    return wrong_usage(
        document.string() + ": " + (body ? "is not a JSON object" : body.error().message),
        "a tool.json has id, name, runtime and file; a script is named by its 'file'"
    );
}

}  // namespace

Outcome<ToolDirectory> read_tool(const fs::path& path) {
    std::error_code ignored;
    const bool whole = fs::is_directory(path, ignored);
    const fs::path folder = whole ? path : path.has_parent_path() ? path.parent_path() : ".";
    const fs::path document = whole ? "tool.json" : path.filename();
    const base::FileDescriptor handle(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!handle) return wrong_usage(base::errno_error("open " + folder.string()));
    auto body = read_document(handle, document);
    if (!body) return std::unexpected(std::move(body.error()));
    const auto file = body->find("file");
    if (file == body->end()) return ToolDirectory{std::move(*body), {}};
    const auto name = file->is_string() ? fs::path(file->get<std::string>()) : fs::path();
    if (!stays_inside(name)) {
        return wrong_usage(
            fmt::format("{}: 'file' must name a file next to it", (folder / document).string()),
            "put the script into the tool's directory"
        );
    }
    auto script = read_beneath(handle, name, script_bytes_max);
    if (!script) return wrong_usage(std::move(script.error()));
    body->erase("file");
    if (!body->contains("filename")) (*body)["filename"] = name.filename().string();
    if (base::valid_utf8(*script)) {
        (*body)["content"] = std::move(*script);
    } else {
        (*body)["contentBase64"] = jobs::base64_encode(*script);
    }
    auto left = whole ? others(folder, document, name) : std::vector<std::string>();
    return ToolDirectory{std::move(*body), std::move(left)};
}

}  // namespace cli
