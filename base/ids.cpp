#include "base/ids.hpp"

#include <charconv>

namespace base {

namespace {

constexpr std::size_t name_bytes_max = 128;

template <class Number>
void append_number(std::string& out, Number value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, end);
}

// Digits only, no leading zero, so that an id has one spelling.
template <class Number>
std::optional<Number> number(std::string_view text) {
    if (text.empty() || (text[0] == '0' && text.size() > 1)) return std::nullopt;
    Number value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<Seq> seq_after(char letter, std::string_view text) {
    if (text.empty() || text[0] != letter) return std::nullopt;
    const auto seq = number<Seq>(text.substr(1));
    if (!seq || *seq == 0) return std::nullopt;
    return seq;
}

}  // namespace

void append_text(std::string& out, TokenId id) {
    out += 't';
    append_number(out, id.seq);
    out += '-';
    append_number(out, id.n);
}

void append_text(std::string& out, CaseId id) {
    out += 'c';
    append_number(out, id.seq);
}

void append_text(std::string& out, OperationId id) {
    out += 'o';
    append_number(out, id.seq);
}

std::string text(TokenId id) {
    std::string out;
    append_text(out, id);
    return out;
}

std::string text(CaseId id) {
    std::string out;
    append_text(out, id);
    return out;
}

std::string text(OperationId id) {
    std::string out;
    append_text(out, id);
    return out;
}

std::string text(AttemptId id) {
    std::string out = text(id.operation);
    out += '.';
    append_number(out, id.n);
    return out;
}

std::optional<TokenId> token_id(std::string_view text) {
    const auto dash = text.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    const auto seq = seq_after('t', text.substr(0, dash));
    const auto n = number<std::uint32_t>(text.substr(dash + 1));
    if (!seq || !n) return std::nullopt;
    return TokenId{*seq, *n};
}

std::optional<CaseId> case_id(std::string_view text) {
    const auto seq = seq_after('c', text);
    if (!seq) return std::nullopt;
    return CaseId{*seq};
}

std::optional<OperationId> operation_id(std::string_view text) {
    const auto seq = seq_after('o', text);
    if (!seq) return std::nullopt;
    return OperationId{*seq};
}

std::optional<AttemptId> attempt_id(std::string_view text) {
    const auto dot = text.find('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const auto operation = operation_id(text.substr(0, dot));
    const auto n = number<std::uint32_t>(text.substr(dot + 1));
    if (!operation || !n || *n == 0) return std::nullopt;
    return AttemptId{*operation, *n};
}

bool valid_name(std::string_view name) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    if (name.empty() || name.size() > name_bytes_max || !letter(name[0])) return false;
    for (const char c : name) {
        if (!letter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '-') return false;
    }
    return true;
}

}  // namespace base
