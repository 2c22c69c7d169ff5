#include "nets/pnml/shape.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <ranges>
#include <span>
#include <vector>

namespace nets::pnml {
namespace {

using pugi::xml_node;
using Words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 1> id = {"id"};
constexpr std::array<std::string_view, 2> id_type = {"id", "type"};
constexpr std::array<std::string_view, 2> id_ref = {"id", "ref"};
constexpr std::array<std::string_view, 3> id_ends = {"id", "source", "target"};

constexpr std::array<std::string_view, 2> in_pnml = {"net", "toolspecific"};
// <finalmarkings> (ProM, pm4py) says when a run counts as finished; it changes no firing.
constexpr std::array<std::string_view, 10> in_net = {
    "name",
    "page",
    "place",
    "transition",
    "arc",
    "referencePlace",
    "referenceTransition",
    "graphics",
    "toolspecific",
    "finalmarkings",
};
constexpr std::array<std::string_view, 4> in_place = {
    "name", "initialMarking", "graphics", "toolspecific"
};
constexpr std::array<std::string_view, 3> in_node = {"name", "graphics", "toolspecific"};
// <arctype> (ProM, pm4py) is read: only normal arcs are.
constexpr std::array<std::string_view, 5> in_arc = {
    "name", "inscription", "arctype", "graphics", "toolspecific"
};
constexpr std::array<std::string_view, 3> in_label = {"text", "graphics", "toolspecific"};

struct Rule {
    std::string_view element;
    Words attributes;
    Words children;
    bool text = false;
};
constexpr std::array rules = {
    Rule{"arc", id_ends, in_arc},
    Rule{"place", id, in_place},
    Rule{"transition", id, in_node},
    Rule{"text", {}, {}, true},
    Rule{"name", {}, in_label},
    Rule{"initialMarking", {}, in_label},
    Rule{"inscription", {}, in_label},
    Rule{"arctype", {}, in_label},
    Rule{"referencePlace", id_ref, in_node},
    Rule{"referenceTransition", id_ref, in_node},
    Rule{"page", id, Words(in_net).first<in_net.size() - 1>()},
    Rule{"net", id_type, in_net},
    Rule{"pnml", {}, in_pnml},
};

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_namespace(std::string_view attribute) {
    return attribute == "xmlns" || attribute.starts_with("xmlns:");
}

/// The URI that the element's prefix, or its absence, stands for.
std::string_view namespace_of(const xml_node& node) {
    const std::string_view name = node.name();
    const auto colon = name.find(':');
    const std::string declared =
        colon == std::string_view::npos ? "xmlns" : fmt::format("xmlns:{}", name.substr(0, colon));
    for (xml_node at = node; at; at = at.parent()) {
        if (const auto found = at.attribute(declared.c_str())) return found.value();
    }
    return "";
}

class Checker {
public:
    Checker(const xml_node& root, const ReportFault& report)
        : root_(root), namespace_(namespace_of(root)), report_(report) {}

    void run() {
        std::vector<xml_node> open{root_};
        while (!open.empty()) {
            const xml_node node = open.back();
            open.pop_back();
            if (node != root_ && !belongs(node)) continue;
            const auto* const rule = std::ranges::find(rules, local_name(node), &Rule::element);
            if (rule == rules.end()) continue;  // <graphics> and the like
            check_attributes(node, *rule);
            const auto first = open.size();
            for (const xml_node& child : node.children())
                open.push_back(child);
            std::ranges::reverse(open | std::views::drop(first));
        }
    }

private:
    void check_attributes(const xml_node& node, const Rule& rule) {
        for (const auto& attribute : node.attributes()) {
            const std::string_view name = attribute.name();
            const bool of_xml = is_namespace(name) || name.starts_with("xml:") ||
                                (node == root_ && name.ends_with(":schemaLocation"));
            if (of_xml || std::ranges::find(rule.attributes, name) != rule.attributes.end()) {
                if (!of_xml && node.attribute(attribute.name()) != attribute)
                    report_(node.offset_debug(), fmt::format("'{}' is duplicated", name));
                continue;
            }
            report_(
                node.offset_debug(),
                fmt::format(
                    "attribute '{}' is not known on <{}> of a P/T net", name, local_name(node)
                )
            );
        }
    }

    /// An element whose parent's rule has it; reports what does not belong there.
    bool belongs(const xml_node& node) {
        const auto parent = local_name(node.parent());
        const Rule& rule = *std::ranges::find(rules, parent, &Rule::element);
        if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) {
            const std::string_view text = node.value();
            if (rule.text || std::ranges::all_of(text, is_blank)) return false;
            report_(
                node.offset_debug(),
                fmt::format("text directly inside <{}>: only <text> holds text", parent)
            );
            return false;
        }
        if (node.type() != pugi::node_element) return false;
        const auto name = local_name(node);
        const bool known = std::ranges::find(rule.children, name) != rule.children.end();
        const bool passed_over = name == "graphics" || name == "toolspecific";
        if (known && (passed_over || namespace_of(node) == namespace_)) return true;
        report_(
            node.offset_debug(),
            fmt::format("<{}> is not known inside <{}> of a P/T net", node.name(), parent)
        );
        return false;
    }

    xml_node root_;
    std::string_view namespace_;
    const ReportFault& report_;
};

}  // namespace

std::string_view local_name(const xml_node& node) {
    const std::string_view name = node.name();
    const auto colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

void check_shape(const xml_node& root, const ReportFault& report) {
    Checker(root, report).run();
}

}  // namespace nets::pnml
