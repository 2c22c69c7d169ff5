#include "nets/cel/string_format.hpp"

#include "nets/cel/functions.hpp"
#include "nets/cel/literal.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace nets::cel {

namespace {

constexpr int precision_default = 6;
constexpr int precision_max = 100;

class Formatter {
public:
    Formatter(std::string_view pattern, const Value& arguments, Budget& budget)
        : rest_(pattern), arguments_(arguments), budget_(budget) {}

    base::Result<Value> run() {
        if (!spend_text(budget_, rest_.size())) return out_of_steps();
        while (!rest_.empty()) {
            const auto percent = rest_.find('%');
            out_.append(rest_.substr(0, percent));
            if (percent == std::string_view::npos) break;
            rest_.remove_prefix(percent + 1);
            if (rest_.starts_with('%')) {
                out_ += '%';
                rest_.remove_prefix(1);
                continue;
            }
            if (auto done = clause(); !done) return std::unexpected(done.error());
        }
        return Value::string(std::move(out_));
    }

private:
    base::Result<void> clause() {
        int precision = precision_default;
        if (rest_.starts_with('.')) {
            rest_.remove_prefix(1);
            precision = 0;
            while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
                precision = std::min(precision_max + 1, precision * 10 + (rest_.front() - '0'));
                rest_.remove_prefix(1);
            }
            if (precision > precision_max) {
                return wrong(fmt::format("a precision over {}", precision_max));
            }
        }
        const char letter = rest_.empty() ? '\0' : rest_.front();
        if (letter == '\0' || std::string_view("sdfexXob").find(letter) == std::string_view::npos) {
            return wrong(fmt::format("format() knows no %{}", rest_.substr(0, 1)));
        }
        rest_.remove_prefix(1);
        if (next_ >= arguments_.size()) {
            return wrong(fmt::format("format() has only {} arguments", arguments_.size()));
        }
        const Value argument = arguments_.at(next_++);
        const std::size_t before = out_.size();
        auto done = append(letter, precision, argument);
        if (done && !spend_text(budget_, out_.size() - before)) return out_of_steps();
        return done;
    }

    base::Result<void> append(char letter, int precision, const Value& argument) {
        switch (letter) {
            case 's':
                return append_any(argument);
            case 'd':
                return append_decimal(argument);
            case 'f':
            case 'e':
                return append_real(letter, precision, argument);
            default:
                return append_digits(letter, argument);
        }
    }

    static base::Result<void> refuse(char letter, const Value& argument) {
        return wrong(fmt::format("%{} does not take {}", letter, a_kind(argument.kind())));
    }

    base::Result<void> append_any(const Value& value) {
        if (!spend(budget_, 1)) return out_of_steps();
        switch (value.kind()) {
            case Kind::null:
                out_ += "null";
                return {};
            case Kind::boolean:
                out_ += value.as_boolean() ? "true" : "false";
                return {};
            case Kind::integer:
            case Kind::uinteger:
                return append_decimal(value);
            case Kind::real:
                out_ += real_text(value.as_real());
                return {};
            case Kind::bytes:
                if (!base::valid_utf8(value.text())) return wrong("the bytes are not UTF-8 text");
                [[fallthrough]];
            case Kind::string:
            case Kind::type:
                if (!spend_text(budget_, value.text().size())) return out_of_steps();
                out_.append(value.text());
                return {};
            case Kind::timestamp:
                out_ += timestamp_text(value.as_span());
                return {};
            case Kind::duration:
                out_ += duration_text(value.as_span());
                return {};
            case Kind::list:
                return append_list(value);
            case Kind::map:
                return append_map(value);
            case Kind::optional:
                break;
        }
        return refuse('s', value);
    }

    base::Result<void> append_list(const Value& value) {
        out_ += '[';
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (i > 0) out_ += ", ";
            if (auto done = append_any(value.at(i)); !done) return done;
        }
        out_ += ']';
        return {};
    }

    // Entries are sorted by the text of their keys.
    base::Result<void> append_map(const Value& value) {
        if (!spend(budget_, value.size())) return out_of_steps();
        std::vector<std::pair<std::string, Value>> members;
        for (auto& [key, member] : value.entries()) {
            const std::size_t start = out_.size();
            if (auto done = append_any(key); !done) return done;
            members.emplace_back(out_.substr(start), std::move(member));
            out_.resize(start);
        }
        std::ranges::sort(members, {}, [](const auto& entry) -> const std::string& {
            return entry.first;
        });
        out_ += '{';
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0) out_ += ", ";
            out_.append(members[i].first).append(": ");
            if (auto done = append_any(members[i].second); !done) return done;
        }
        out_ += '}';
        return {};
    }

    base::Result<void> append_decimal(const Value& value) {
        if (value.is(Kind::integer)) {
            fmt::format_to(std::back_inserter(out_), "{}", value.as_integer());
        } else if (value.is(Kind::uinteger)) {
            fmt::format_to(std::back_inserter(out_), "{}", value.as_uinteger());
        } else if (value.is(Kind::real) && !std::isfinite(value.as_real())) {
            out_ += real_text(value.as_real());
        } else {
            return refuse('d', value);
        }
        return {};
    }

    base::Result<void> append_real(char letter, int precision, const Value& value) {
        double number = 0;
        if (value.is(Kind::real)) {
            number = value.as_real();
        } else if (value.is(Kind::integer)) {
            number = static_cast<double>(value.as_integer());
        } else if (value.is(Kind::uinteger)) {
            number = static_cast<double>(value.as_uinteger());
        } else {
            return refuse(letter, value);
        }
        if (!std::isfinite(number)) {
            out_ += real_text(number);
        } else if (letter == 'f') {
            fmt::format_to(std::back_inserter(out_), "{:.{}f}", number, precision);
        } else {
            fmt::format_to(std::back_inserter(out_), "{:.{}e}", number, precision);
        }
        return {};
    }

    base::Result<void> append_digits(char letter, const Value& value) {
        if (letter == 'b' && value.is(Kind::boolean)) {
            out_ += value.as_boolean() ? '1' : '0';
            return {};
        }
        const bool hexadecimal = letter == 'x' || letter == 'X';
        if (hexadecimal && (value.is(Kind::string) || value.is(Kind::bytes))) {
            if (!spend_text(budget_, 2 * value.text().size())) return out_of_steps();
            for (const char c : value.text())
                append_byte(letter, static_cast<unsigned char>(c));
            return {};
        }
        std::uint64_t magnitude = 0;
        if (value.is(Kind::uinteger)) {
            magnitude = value.as_uinteger();
        } else if (value.is(Kind::integer)) {
            magnitude = static_cast<std::uint64_t>(value.as_integer());
            if (value.as_integer() < 0) {
                out_ += '-';
                magnitude = 0 - magnitude;
            }
        } else {
            return refuse(letter, value);
        }
        const auto to = std::back_inserter(out_);
        if (letter == 'x') fmt::format_to(to, "{:x}", magnitude);
        if (letter == 'X') fmt::format_to(to, "{:X}", magnitude);
        if (letter == 'o') fmt::format_to(to, "{:o}", magnitude);
        if (letter == 'b') fmt::format_to(to, "{:b}", magnitude);
        return {};
    }

    void append_byte(char letter, unsigned byte) {
        if (letter == 'x') {
            fmt::format_to(std::back_inserter(out_), "{:02x}", byte);
        } else {
            fmt::format_to(std::back_inserter(out_), "{:02X}", byte);
        }
    }

    std::string_view rest_;
    const Value& arguments_;
    Budget& budget_;
    std::string out_;
    std::size_t next_ = 0;
};

}  // namespace

base::Result<Value> format_text(std::string_view pattern, const Value& arguments, Budget& budget) {
    return Formatter(pattern, arguments, budget).run();
}

}  // namespace nets::cel
