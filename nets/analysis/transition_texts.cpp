#include "nets/analysis/transition_texts.hpp"

#include "nets/cel/parser.hpp"
#include "nets/interpolation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <variant>

namespace nets::analysis {
namespace {

using base::Json;

std::optional<cel::Node> tree_of(const std::string& source) {
    std::vector<cel::Fault> faults;
    auto tree = cel::parse(source, faults);
    if (!faults.empty()) return std::nullopt;
    return tree;
}

std::optional<cel::Node> tree_of(const std::optional<cel::Program>& program) {
    return program ? tree_of(program->source()) : std::nullopt;
}

/// What a rule without `token` makes: its element, or the one token that is moved.
std::string passed_on(const Transition& transition, const OutputRule& rule) {
    if (rule.each) return "${each}";
    if (transition.binding_order.size() != 1) return {};
    return "${" + transition.in[transition.binding_order.front()].alias + "}";
}

void add_templates(
    const Transition& transition,
    const Outputs& outputs,
    const Json& document,
    TransitionTexts& into
) {
    for (std::size_t i = 0; i < outputs.rules.size() && i < document.size(); ++i) {
        const OutputRule& rule = outputs.rules[i];
        if (auto tree = tree_of(rule.when)) into.when.emplace(&rule, std::move(*tree));
        const auto at = std::next(document.begin(), static_cast<std::ptrdiff_t>(i));
        if (document.is_object()) {
            into.templates.emplace(&rule, TemplateSource{.json = &*at});
        } else if (at->is_object() && at->contains("token")) {
            into.templates.emplace(&rule, TemplateSource{.json = &(*at)["token"]});
        } else {
            into.templates.emplace(&rule, TemplateSource{.text = passed_on(transition, rule)});
        }
    }
}

/// A template that is text, with no expression in it; or the one expression that is all of it.
Written of_text(const std::string& text, std::span<const std::string> below) {
    const auto pieces = split_interpolation(text);
    if (!pieces) return {};
    Written result;
    if (pieces->empty() || (pieces->size() == 1 && !(*pieces)[0].expression)) {
        if (!below.empty()) return {};
        result.constant = cel::Value::string(pieces->empty() ? std::string() : (*pieces)[0].text);
    } else if (pieces->size() == 1) {
        result.expression = tree_of((*pieces)[0].text);
        result.below.assign(below.begin(), below.end());
    }
    return result;
}

/// The keys of a template are texts too: `$${` stands for `${`.
const Json* member_of(const Json& object, const std::string& name) {
    for (const auto& [key, value] : object.items()) {
        const auto pieces = split_interpolation(key);
        if (!pieces || pieces->size() > 1) continue;
        if ((pieces->empty() ? std::string() : (*pieces)[0].text) == name) return &value;
    }
    return nullptr;
}

}  // namespace

Written written_by(const TemplateSource& source, const Path& path) {
    if (source.json == nullptr) return of_text(source.text, path);
    const Json* at = source.json;
    for (std::size_t step = 0;; ++step) {
        const auto below = std::span(path).subspan(step);
        if (at->is_string()) return of_text(at->get<std::string>(), below);
        if (below.empty()) break;
        if (!at->is_object()) return {};
        at = member_of(*at, below.front());
        if (at == nullptr) return {};
    }
    // A list or an object may hold expressions.
    if (at->is_structured()) return {};
    return {.constant = cel::Value::owned_json(*at), .expression = {}, .below = {}};
}

TransitionTexts texts_of(const Transition& transition, const Json& document) {
    TransitionTexts texts{.guard = tree_of(transition.guard)};
    for (const InputArc& arc : transition.in)
        texts.where.push_back(tree_of(arc.where));
    if (!document.is_object()) return texts;
    if (const auto out = document.find("out"); out != document.end())
        add_templates(transition, transition.out, *out, texts);
    const auto fail = document.find("fail");
    if (fail != document.end() && transition.fail)
        add_templates(transition, *transition.fail, *fail, texts);
    return texts;
}

}  // namespace nets::analysis
