#include "cli/context.hpp"

#include "base/files.hpp"
#include "base/json.hpp"
#include "http/status.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t small_file_bytes_max = 4096;

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

Outcome<MasterClient> master_of(const fs::path& data) {
    const auto file = data / "endpoint.json";
    const auto text = base::read_file(file, small_file_bytes_max);
    if (!text) {
        return std::unexpected(Failure{
            {base::ErrorCode::upstream,
             fmt::format("no master has left its address in {}", file.string()),
             "start one: netwright serve; if it has another directory, add --data DIR; or set "
             "NETWRIGHT_URL "
             "and NETWRIGHT_TOKEN",
             {}},
            Exit::unreachable
        });
    }
    const auto endpoint = base::parse_json(*text);
    if (!endpoint || !endpoint->is_object() || !endpoint->contains("url") ||
        !endpoint->at("url").is_string()) {
        return wrong_usage(file.string() + " is not what a master writes");
    }
    const auto token_file = data / "admin.token";
    auto token = base::read_file(token_file, small_file_bytes_max);
    if (!token) return wrong_usage(token.error());
    token->resize(std::min(token->size(), token->find_first_of("\r\n")));
    return MasterClient::make(endpoint->at("url").get<std::string>(), *token);
}

std::string for_people(const base::Error& error) {
    auto text = "netwright: " + error.message + "\n";
    for (const auto& detail : error.details)
        text += fmt::format("  {}\n", base::text(detail));
    if (!error.next.empty()) text += fmt::format("next: {}\n", error.next);
    return text;
}

}  // namespace

fs::path default_data() {
    const auto shared = environment("XDG_DATA_HOME");
    if (!shared.empty()) return fs::path(shared) / "netwright";
    const auto home = environment("HOME");
    return fs::path(home.empty() ? "/root" : home) / ".local/share/netwright";
}

Outcome<MasterClient> Context::master() const {
    if (!data.empty()) return master_of(data);
    const auto url = environment("NETWRIGHT_URL");
    if (url.empty()) return master_of(default_data());
    const auto token = environment("NETWRIGHT_TOKEN");
    if (token.empty()) {
        return wrong_usage(
            "NETWRIGHT_URL is set, NETWRIGHT_TOKEN is not",
            "set it to the content of the master's admin.token"
        );
    }
    return MasterClient::make(url, token);
}

void Context::finish(const Outcome<Exit>& outcome) {
    std::fflush(stdout);
    exit = outcome ? *outcome : outcome.error().exit;
    if (!outcome) report(outcome.error().error);
}

void Context::report(const base::Error& error) const {
    const auto text = json ? http::error_json(error) + "\n" : for_people(error);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

Outcome<std::string> read_input(const std::string& name) {
    constexpr std::size_t input_bytes_max = std::size_t{64} << 20U;
    if (name != "-") {
        auto text = base::read_file(name, input_bytes_max);
        if (!text) return wrong_usage(std::move(text.error()));
        return std::move(*text);
    }
    std::string text;
    std::array<char, 65536> buffer{};
    while (const auto count = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
        text.append(buffer.data(), count);
        if (text.size() > input_bytes_max) return wrong_usage("more than 64 MiB on stdin");
    }
    return text;
}

void print(std::string_view line) {
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fputc('\n', stdout);
}

}  // namespace cli
