#include "base/json_schema_pattern.hpp"

#include "base/json_schema_unicode.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <re2/re2.h>

namespace base::schema {

namespace {

constexpr std::size_t pattern_bytes_max = 16 * 1024;
constexpr std::int64_t program_bytes_max = 8 << 20;
// A byte read by a program of so many instructions is a 64th of a step; of more, more.
constexpr std::uint64_t instructions_of_a_scan = 4;
constexpr std::uint64_t bytes_of_a_step = 64;

// ECMA's \s is all white space of Unicode and the line ends; RE2's is ASCII.
constexpr std::string_view space =
    R"(\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff})";
constexpr std::string_view not_space =
    R"(\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027})"
    R"(\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff})";
constexpr std::string_view any_but_line_end = R"([^\n\r\x{2028}\x{2029}])";

bool ascii_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool ascii_digit(char c) {
    return c >= '0' && c <= '9';
}

class Translation {
public:
    explicit Translation(std::string_view text) : text_(text) {}

    Result<std::string> run() {
        while (at_ < text_.size() && !error_) {
            const char c = text_[at_];
            if (c == '\\') {
                escape();
            } else if (in_class_) {
                class_character(c);
            } else {
                character(c);
            }
        }
        if (!error_ && in_class_) refuse("has a '[' that is never closed");
        if (error_) return fail(*error_);
        return out_;
    }

private:
    void character(char c) {
        ++at_;
        if (c == '.') {
            out_ += any_but_line_end;
        } else if (c == '[') {
            open_class();
        } else if (c == '(' && next('?')) {
            group();
        } else {
            out_ += c;
        }
    }

    void open_class() {
        const bool negated = take('^');
        if (take(']')) {
            out_ += negated ? R"([\x{0}-\x{10ffff}])" : R"([^\x{0}-\x{10ffff}])";
            return;
        }
        out_ += negated ? "[^" : "[";
        in_class_ = true;
    }

    void class_character(char c) {
        ++at_;
        if (c == ']') in_class_ = false;
        // RE2 would take `[:alpha:]` for a class of POSIX.
        if (c == '[') out_ += '\\';
        out_ += c;
    }

    void group() {
        ++at_;
        if (take(':')) {
            out_ += "(?:";
        } else if (next('=') || next('!')) {
            refuse("looks ahead", ErrorCode::unsupported);
        } else if (take('<')) {
            if (next('=') || next('!')) return refuse("looks behind", ErrorCode::unsupported);
            const auto end = text_.find('>', at_);
            if (end == std::string_view::npos) return refuse("has a group name that never ends");
            at_ = end + 1;
            out_ += "(?:";  // nothing can refer to its name
        } else {
            refuse("has '(?' that ECMA-262 does not know");
        }
    }

    void escape() {
        if (at_ + 1 == text_.size()) return refuse("ends in '\\'");
        const char c = text_[at_ + 1];
        at_ += 2;
        switch (c) {
            case 'd':
            case 'D':
            case 'w':
            case 'W':
            case 't':
            case 'n':
            case 'v':
            case 'f':
            case 'r':
                out_.append("\\").append(1, c);
                break;
            case 's':
                set(space);
                break;
            case 'S':
                set(not_space);
                break;
            case 'b':
                out_ += in_class_ ? R"(\x08)" : R"(\b)";
                break;
            case 'B':
                if (in_class_) return refuse("has '\\B' in a class");
                out_ += R"(\B)";
                break;
            case 'c':
                control();
                break;
            case 'x':
                code_point(hex(2));
                break;
            case 'u':
                unicode();
                break;
            case 'p':
            case 'P':
                property(c == 'P');
                break;
            case 'k':
                refuse("refers back to a group", ErrorCode::unsupported);
                break;
            default:
                other_escape(c);
        }
    }

    void other_escape(char c) {
        if (c == '0' && (at_ == text_.size() || !ascii_digit(text_[at_]))) {
            out_ += R"(\x00)";
        } else if (ascii_digit(c)) {
            refuse("refers back to a group", ErrorCode::unsupported);
        } else if (ascii_letter(c) || c == '_') {
            refuse(fmt::format("has '\\{}', which ECMA-262 does not know", c));
        } else if (static_cast<unsigned char>(c) < 0x80) {
            out_.append("\\").append(1, c);
        } else {
            out_ += c;
        }
    }

    void set(std::string_view ranges) {
        out_ += in_class_ ? std::string(ranges) : fmt::format("[{}]", ranges);
    }

    void control() {
        if (at_ == text_.size() || !ascii_letter(text_[at_])) {
            return refuse("has '\\c' without a letter");
        }
        code_point(static_cast<std::uint32_t>(text_[at_++]) & 31U);
    }

    std::optional<std::uint32_t> hex(std::size_t digits) {
        if (at_ + digits > text_.size()) return std::nullopt;
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < digits; ++i) {
            const char c = text_[at_ + i];
            const char lower = static_cast<char>(c | 0x20);
            if (!ascii_digit(c) && (lower < 'a' || lower > 'f')) return std::nullopt;
            value = value * 16 +
                    static_cast<std::uint32_t>(ascii_digit(c) ? c - '0' : lower - 'a' + 10);
        }
        at_ += digits;
        return value;
    }

    void unicode() {
        if (take('{')) {
            const auto end = text_.find('}', at_);
            constexpr std::size_t digits_max = 6;
            if (end == std::string_view::npos || end == at_ || end - at_ > digits_max) {
                return code_point(std::nullopt);
            }
            const auto value = hex(end - at_);
            ++at_;
            return code_point(value);
        }
        auto value = hex(4);
        if (value && *value >= 0xD800 && *value < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
            at_ += 2;
            const auto low = hex(4);
            if (!low || *low < 0xDC00 || *low > 0xDFFF) return code_point(std::nullopt);
            value = 0x10000 + ((*value - 0xD800) << 10U) + (*low - 0xDC00);
        }
        code_point(value);
    }

    void code_point(std::optional<std::uint32_t> value) {
        if (!value || *value > 0x10FFFF || (*value >= 0xD800 && *value < 0xE000)) {
            return refuse("has an escape that names no character");
        }
        out_ += fmt::format("\\x{{{:x}}}", *value);
    }

    void property(bool negated) {
        const auto end = text_.find('}', at_);
        if (!take('{') || end == std::string_view::npos) {
            return refuse("has '\\p' without a name in braces");
        }
        const auto name = text_.substr(at_, end - at_);
        at_ = end + 1;
        const auto known = re2_property(name, negated);
        if (!known) {
            return refuse(
                fmt::format("asks for the Unicode property '{}', which is not known here", name),
                ErrorCode::unsupported
            );
        }
        set(*known);
    }

    [[nodiscard]] bool next(char c) const { return at_ < text_.size() && text_[at_] == c; }
    bool take(char c) {
        if (!next(c)) return false;
        ++at_;
        return true;
    }
    void refuse(std::string_view why, ErrorCode code = ErrorCode::validation) {
        if (error_) return;
        error_ = Error{
            code,
            fmt::format("the pattern '{}' {}", text_, why),
            code == ErrorCode::unsupported ? "say it without that, or with several schemas" : "",
            {}
        };
    }

    std::string_view text_;
    std::size_t at_ = 0;
    bool in_class_ = false;
    std::string out_;
    std::optional<Error> error_;
};

}  // namespace

Result<std::string> re2_pattern(std::string_view ecma) {
    return Translation(ecma).run();
}

Pattern::Pattern(std::unique_ptr<re2::RE2> expression) : expression_(std::move(expression)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

Result<Pattern> Pattern::compile(std::string_view ecma) {
    if (ecma.size() > pattern_bytes_max) {
        return fail(
            ErrorCode::validation,
            fmt::format("a pattern of {} bytes; it may have {}", ecma.size(), pattern_bytes_max)
        );
    }
    const auto translated = re2_pattern(ecma);
    if (!translated) return fail(translated.error());
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(program_bytes_max);
    auto expression = std::make_unique<re2::RE2>(*translated, options);
    if (!expression->ok()) {
        return fail(
            ErrorCode::validation,
            fmt::format("the pattern '{}' does not compile: {}", ecma, expression->error())
        );
    }
    return Pattern(std::move(expression));
}

std::size_t Pattern::instructions() const {
    return static_cast<std::size_t>(expression_->ProgramSize());
}

std::uint64_t Pattern::steps(std::string_view text) const {
    return 1 + text.size() * (instructions_of_a_scan + instructions()) / bytes_of_a_step;
}

bool Pattern::found_in(std::string_view text) const {
    return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *expression_);
}

}  // namespace base::schema
