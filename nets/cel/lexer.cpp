#include "nets/cel/lexer.hpp"

#include "nets/cel/literal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace nets::cel {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool starts_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_identifier(char c) {
    return starts_identifier(c) || is_digit(c);
}

class Lexer {
public:
    Lexer(std::string_view source, std::vector<Fault>& faults) : source_(source), faults_(faults) {}

    std::vector<Token> run() {
        std::vector<Token> all;
        while (true) {
            skip_space();
            Token token = one();
            const bool end = token.kind == TokenKind::end;
            all.push_back(std::move(token));
            if (end || faults_.size() >= faults_max) return all;
        }
    }

private:
    [[nodiscard]] char peek(std::size_t ahead = 0) const {
        return next_ + ahead < source_.size() ? source_[next_ + ahead] : '\0';
    }
    [[nodiscard]] bool done() const { return next_ >= source_.size(); }

    void advance() {
        const char c = source_[next_++];
        if (c == '\n') {
            ++at_.line;
            at_.column = 1;
        } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80) {
            ++at_.column;
        }
    }
    void advance(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            advance();
    }

    void skip_space() {
        while (!done()) {
            const char c = peek();
            if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f') {
                advance();
            } else if (c == '/' && peek(1) == '/') {
                while (!done() && peek() != '\n')
                    advance();
            } else {
                return;
            }
        }
    }

    Token one() {
        start_ = next_;
        begin_ = at_;
        if (done()) return made(TokenKind::end);
        const char c = peek();
        if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
        if (const std::size_t prefix = quote_after_prefix(); prefix != std::string_view::npos) {
            return quoted(prefix);
        }
        if (starts_identifier(c)) {
            while (continues_identifier(peek()))
                advance();
            return made(TokenKind::identifier);
        }
        if (c == '`') return backticks();
        return operator_token();
    }

    Token made(TokenKind kind) {
        return {kind, begin_, std::string(source_.substr(start_, next_ - start_))};
    }

    void fault(std::string message) { faults_.push_back({begin_, std::move(message)}); }

    Token number() {
        if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X') && is_hex(peek(2))) {
            advance(2);
            while (is_hex(peek()))
                advance();
            return with_suffix(TokenKind::integer);
        }
        while (is_digit(peek()))
            advance();
        bool real = false;
        if (peek() == '.' && is_digit(peek(1))) {
            real = true;
            advance();
            while (is_digit(peek()))
                advance();
        }
        const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
        if ((peek() == 'e' || peek() == 'E') && is_digit(peek(1 + sign))) {
            real = true;
            advance(1 + sign);
            while (is_digit(peek()))
                advance();
        }
        return with_suffix(real ? TokenKind::real : TokenKind::integer);
    }

    Token with_suffix(TokenKind kind) {
        Token token = made(kind);
        if (kind == TokenKind::integer && (peek() == 'u' || peek() == 'U')) {
            advance();
            token.kind = TokenKind::uinteger;
        }
        if (continues_identifier(peek())) {
            while (continues_identifier(peek()))
                advance();
            fault(fmt::format(
                "'{}' is neither a number nor a name", source_.substr(start_, next_ - start_)
            ));
        }
        return token;
    }

    // How many letters (r, b, both) stand before a quote here; npos when this is no literal.
    [[nodiscard]] std::size_t quote_after_prefix() const {
        for (std::size_t i = 0; i < 3; ++i) {
            const char c = peek(i);
            if (c == '\'' || c == '"') return i;
            const bool raw = c == 'r' || c == 'R';
            const bool bytes = c == 'b' || c == 'B';
            if (!raw && !bytes) break;
            if (i == 1 && raw == (peek() == 'r' || peek() == 'R')) break;
        }
        return std::string_view::npos;
    }

    Token quoted(std::size_t prefix) {
        LiteralStyle style;
        for (std::size_t i = 0; i < prefix; ++i) {
            style.raw |= peek() == 'r' || peek() == 'R';
            style.bytes |= peek() == 'b' || peek() == 'B';
            advance();
        }
        const char quote = peek();
        const bool triple = peek(1) == quote && peek(2) == quote;
        const std::string closing(triple ? 3 : 1, quote);
        advance(closing.size());
        const std::size_t first = next_;
        while (!done() && !source_.substr(next_).starts_with(closing)) {
            if (!triple && (peek() == '\n' || peek() == '\r')) break;
            if (!style.raw && peek() == '\\' && next_ + 1 < source_.size()) advance();
            advance();
        }
        const std::string_view body = source_.substr(first, next_ - first);
        Token token{style.bytes ? TokenKind::bytes : TokenKind::string, begin_, {}};
        if (!source_.substr(next_).starts_with(closing)) {
            fault(fmt::format("the literal has no closing {}", closing));
            return token;
        }
        advance(closing.size());
        if (auto decoded = decode_literal(body, style)) {
            token.text = std::move(*decoded);
        } else {
            fault(decoded.error());
        }
        return token;
    }

    Token backticks() {
        advance();
        const std::size_t first = next_;
        const auto allowed = [](char c) {
            return continues_identifier(c) || c == '.' || c == '-' || c == '/' || c == ' ';
        };
        while (allowed(peek()))
            advance();
        Token token = made(TokenKind::quoted_identifier);
        token.text = std::string(source_.substr(first, next_ - first));
        if (peek() == '`' && !token.text.empty()) {
            advance();
        } else {
            fault("a name in backticks holds letters, digits and _ . - / space, and ends with `");
            while (!done() && peek() != '`' && peek() != '\n')
                advance();
            if (peek() == '`') advance();
        }
        return token;
    }

    Token operator_token() {
        static constexpr std::array<std::string_view, 8> doubles = {
            "&&", "||", "==", "!=", "<=", ">=", ".?", "[?"
        };
        const std::string_view rest = source_.substr(next_);
        if (std::ranges::any_of(doubles, [&](auto op) { return rest.starts_with(op); })) {
            advance(2);
            return made(TokenKind::punctuation);
        }
        const char c = peek();
        advance();
        if (std::string_view("+-*/%<>!?:.,()[]{}").find(c) != std::string_view::npos) {
            return made(TokenKind::punctuation);
        }
        while ((static_cast<unsigned char>(peek()) & 0xC0U) == 0x80)
            advance();
        const std::string_view text = source_.substr(start_, next_ - start_);
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
            fault(fmt::format("the control character {:#04x} has no meaning", static_cast<int>(c)));
        } else if (c == '=') {
            fault("'=' has no meaning; write == to compare");
        } else if (c == '&' || c == '|') {
            fault(fmt::format("'{}' has no meaning; write {}{}", text, text, text));
        } else {
            fault(fmt::format("'{}' has no meaning", text));
        }
        Token token = made(TokenKind::punctuation);
        token.text.clear();
        return token;
    }

    std::string_view source_;
    std::vector<Fault>& faults_;
    std::size_t next_ = 0;
    std::size_t start_ = 0;
    Position at_;
    Position begin_;
};

}  // namespace

std::string at_text(Position at, std::string_view message) {
    return fmt::format("line {}, column {}: {}", at.line, at.column, message);
}

std::vector<Token> tokens(std::string_view source, std::vector<Fault>& faults) {
    return Lexer(source, faults).run();
}

}  // namespace nets::cel
