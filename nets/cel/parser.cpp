#include "nets/cel/parser.hpp"

#include "nets/cel/literal.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace nets::cel {

namespace {

constexpr std::array<std::string_view, 17> reserved_words = {
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while"
};

bool keyword(std::string_view word) {
    return word == "true" || word == "false" || word == "null" || word == "in";
}

struct BinaryOperator {
    std::string_view text;
    int level;
    Op op;
};

constexpr std::array<BinaryOperator, 14> binary_operators = {{
    {"||", 1, Op::logical_or},
    {"&&", 2, Op::logical_and},
    {"<", 3, Op::less},
    {"<=", 3, Op::less_equal},
    {">", 3, Op::greater},
    {">=", 3, Op::greater_equal},
    {"==", 3, Op::equal},
    {"!=", 3, Op::not_equal},
    {"in", 3, Op::in},
    {"+", 4, Op::add},
    {"-", 4, Op::subtract},
    {"*", 5, Op::multiply},
    {"/", 5, Op::divide},
    {"%", 5, Op::modulo},
}};
constexpr int lowest_level = 1;

std::string shown(const Token& token) {
    switch (token.kind) {
        case TokenKind::end:
            return "the end of the expression";
        case TokenKind::string:
            return "a string";
        case TokenKind::bytes:
            return "bytes";
        case TokenKind::identifier:
        case TokenKind::quoted_identifier:
        case TokenKind::integer:
        case TokenKind::uinteger:
        case TokenKind::real:
        case TokenKind::punctuation:
            break;
    }
    return "'" + token.text + "'";
}

// Recursive descent. At the first fault the cursor jumps to the end token, so every loop ends.
class Parser {
public:
    Parser(std::vector<Token> tokens, std::vector<Fault>& faults)
        : tokens_(std::move(tokens)), faults_(faults) {}

    Node run() {
        Node root = expression();
        if (!failed() && here().kind != TokenKind::end) unexpected("an operator or the end");
        return root;
    }

private:
    [[nodiscard]] const Token& here() const { return tokens_[next_]; }
    [[nodiscard]] bool failed() const { return !faults_.empty(); }
    [[nodiscard]] bool at(std::string_view punctuation) const {
        return here().kind == TokenKind::punctuation && here().text == punctuation;
    }
    Token take() { return next_ + 1 < tokens_.size() ? tokens_[next_++] : tokens_[next_]; }
    bool accept(std::string_view punctuation) {
        if (!at(punctuation)) return false;
        ++next_;
        return true;
    }
    void expect(std::string_view punctuation) {
        if (!accept(punctuation)) unexpected(fmt::format("'{}'", punctuation));
    }
    void unexpected(std::string_view wanted) {
        fault(here().at, fmt::format("expected {}, found {}", wanted, shown(here())));
    }
    void fault(Position where, std::string message) {
        if (!failed()) faults_.push_back({where, std::move(message)});
        next_ = tokens_.size() - 1;
    }

    static Node made(Op op, Position where) {
        Node node;
        node.op = op;
        node.at = where;
        return node;
    }
    static Node constant(Position where, Value value) {
        Node node = made(Op::constant, where);
        node.value = std::move(value);
        return node;
    }
    // To be called once a node has all its children.
    Node finished(Node node) {
        for (const Node& child : node.children)
            node.depth = std::max(node.depth, child.depth + 1);
        if (node.depth > nesting_max) too_deep(node.at);
        return node;
    }
    void too_deep(Position where) { fault(where, fmt::format("nested over {} deep", nesting_max)); }

    Node expression() {
        if (++nesting_ > nesting_max) too_deep(here().at);
        Node condition = binary(lowest_level);
        if (const Position where = here().at; accept("?")) {
            Node node = made(Op::conditional, where);
            node.children.push_back(std::move(condition));
            node.children.push_back(binary(lowest_level));
            expect(":");
            node.children.push_back(expression());
            condition = finished(std::move(node));
        }
        --nesting_;
        return condition;
    }

    [[nodiscard]] const BinaryOperator* operator_here() const {
        if (here().kind != TokenKind::punctuation && here().kind != TokenKind::identifier) {
            return nullptr;
        }
        const auto* found = std::ranges::find(
            binary_operators, std::string_view(here().text), &BinaryOperator::text
        );
        return found == binary_operators.end() ? nullptr : found;
    }

    Node binary(int level) {
        Node left = unary();
        while (const BinaryOperator* op = operator_here()) {
            if (op->level < level) break;
            const Position where = take().at;
            Node right = binary(op->level + 1);
            const bool logical = op->op == Op::logical_and || op->op == Op::logical_or;
            if (logical && left.op == op->op) {
                left.children.push_back(std::move(right));
            } else {
                Node node = made(op->op, where);
                node.children.push_back(std::move(left));
                node.children.push_back(std::move(right));
                left = std::move(node);
            }
            left = finished(std::move(left));
        }
        return left;
    }

    Node unary() {
        std::vector<Token> signs;
        while (at("!") || at("-"))
            signs.push_back(take());
        const bool number = here().kind == TokenKind::integer || here().kind == TokenKind::real;
        const bool negative = number && !signs.empty() && signs.back().text == "-";
        if (negative) signs.pop_back();
        Node node = postfix(negative);
        while (!signs.empty() && !failed()) {
            Node outer =
                made(signs.back().text == "!" ? Op::logical_not : Op::negate, signs.back().at);
            signs.pop_back();
            outer.children.push_back(std::move(node));
            node = finished(std::move(outer));
        }
        return node;
    }

    Node postfix(bool negative) {
        Node node = primary(negative);
        while (!failed()) {
            if (accept(".")) {
                node = member(std::move(node), Op::select);
            } else if (accept(".?")) {
                node = member(std::move(node), Op::optional_select);
            } else if (at("[") || at("[?")) {
                const Token bracket = take();
                Node item = made(bracket.text == "[" ? Op::item : Op::optional_item, bracket.at);
                item.children.push_back(std::move(node));
                item.children.push_back(expression());
                expect("]");
                node = finished(std::move(item));
            } else if (at("{") && (node.op == Op::name || node.op == Op::select)) {
                fault(here().at, "messages cannot be built here; write a map: {'name': value}");
            } else {
                break;
            }
        }
        return node;
    }

    Node member(Node operand, Op op) {
        const Token field = here();
        const bool quoted = field.kind == TokenKind::quoted_identifier;
        if (!quoted && (field.kind != TokenKind::identifier || keyword(field.text))) {
            unexpected("the name of a field");
            return operand;
        }
        take();
        Node node = made(op, field.at);
        node.text = field.text;
        node.children.push_back(std::move(operand));
        if (op == Op::select && !quoted && accept("(")) {
            node.op = Op::call;
            node.member = true;
            arguments(node);
        }
        return finished(std::move(node));
    }

    void arguments(Node& call) {
        while (!failed() && !at(")")) {
            call.children.push_back(expression());
            if (!accept(",")) break;
        }
        expect(")");
        if (!failed()) expand_macro(call, faults_);
        if (failed()) next_ = tokens_.size() - 1;
    }

    Node primary(bool negative) {
        const Token token = here();
        if (accept("(")) {
            Node inner = expression();
            expect(")");
            return inner;
        }
        if (accept("[")) return list(token.at);
        if (at("[?")) return optional_list();
        if (accept("{")) return map(token.at);
        if (accept(".")) return name(true);
        if (token.kind == TokenKind::identifier) return name(false);
        if (token.kind == TokenKind::punctuation || token.kind == TokenKind::end ||
            token.kind == TokenKind::quoted_identifier) {
            unexpected("a value");
            return {};
        }
        return literal(take(), negative);
    }

    Node literal(const Token& token, bool negative) {
        const std::string text = (negative ? "-" : "") + token.text;
        switch (token.kind) {
            case TokenKind::integer:
                if (const auto value = read_integer(text)) {
                    return constant(token.at, Value::integer(*value));
                }
                break;
            case TokenKind::uinteger:
                if (const auto value = read_uinteger(text)) {
                    return constant(token.at, Value::uinteger(*value));
                }
                break;
            case TokenKind::real:
                if (const auto value = read_real(text))
                    return constant(token.at, Value::real(*value));
                break;
            case TokenKind::string:
                return constant(token.at, Value::string(token.text));
            case TokenKind::bytes:
                return constant(token.at, Value::bytes(token.text));
            case TokenKind::end:
            case TokenKind::identifier:
            case TokenKind::quoted_identifier:
            case TokenKind::punctuation:
                break;
        }
        fault(token.at, fmt::format("the number {} is out of range", text));
        return {};
    }

    Node name(bool rooted) {
        const Token token = here();
        if (token.kind != TokenKind::identifier) {
            unexpected("a name");
            return {};
        }
        if (token.text == "true" || token.text == "false") {
            take();
            return constant(token.at, Value::boolean(token.text == "true"));
        }
        if (token.text == "null") {
            take();
            return constant(token.at, Value());
        }
        if (std::ranges::find(reserved_words, token.text) != reserved_words.end()) {
            fault(token.at, fmt::format("'{}' is a reserved word", token.text));
            return {};
        }
        if (token.text == "in") {
            unexpected("a value");
            return {};
        }
        take();
        Node node = made(Op::name, token.at);
        node.text = token.text;
        node.rooted = rooted;
        if (accept("(")) {
            node.op = Op::call;
            arguments(node);
        }
        return finished(std::move(node));
    }

    Node list(Position where) {
        Node node = made(Op::list, where);
        list_elements(node);
        return finished(std::move(node));
    }

    // "[?" reads as one token, also where it opens a list whose first element is optional.
    Node optional_list() {
        Node node = made(Op::list, take().at);
        node.children.push_back(expression());
        node.children.back().optional = true;
        if (accept(",")) {
            list_elements(node);
        } else {
            expect("]");
        }
        return finished(std::move(node));
    }

    void list_elements(Node& node) {
        while (!failed() && !at("]")) {
            const bool optional = accept("?");
            node.children.push_back(expression());
            node.children.back().optional = optional;
            if (!accept(",")) break;
        }
        expect("]");
    }

    Node map(Position where) {
        Node node = made(Op::map, where);
        while (!failed() && !at("}")) {
            const bool optional = accept("?");
            node.children.push_back(expression());
            node.children.back().optional = optional;
            expect(":");
            node.children.push_back(expression());
            if (!accept(",")) break;
        }
        expect("}");
        return finished(std::move(node));
    }

    std::vector<Token> tokens_;
    std::vector<Fault>& faults_;
    std::size_t next_ = 0;
    std::uint32_t nesting_ = 0;
};

}  // namespace

Node parse(std::string_view source, std::vector<Fault>& faults) {
    auto all = tokens(source, faults);
    if (!faults.empty()) return {};
    return Parser(std::move(all), faults).run();
}

}  // namespace nets::cel
