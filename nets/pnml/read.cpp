#include "base/json.hpp"
#include "nets/pnml/encoding.hpp"
#include "nets/pnml/pnml.hpp"
#include "nets/pnml/shape.hpp"
#include "nets/pnml/xml.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <pugixml.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace nets::pnml {
namespace {

using analysis::Count;
using analysis::count_max;
using analysis::PlaceId;
using analysis::PtArc;
using analysis::TransitionId;
using pugi::xml_node;

constexpr std::string_view ptnet_type = "http://www.pnml.org/version-2009/grammar/ptnet";
// ProM and pm4py give this type to their P/T nets. What it may hold beyond one is refused anyway.
constexpr std::string_view core_type = "http://www.pnml.org/version-2009/grammar/pnmlcoremodel";
constexpr std::size_t faults_max = 100;
constexpr std::size_t number_length_max = 40;
constexpr std::size_t id_length_max = 1000;
constexpr std::size_t references_max = 1000;  ///< from one reference node to the next

bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/// All text directly inside, with each run of white space as one space and none at the ends.
std::string text_inside(const xml_node& node) {
    std::string text;
    for (const xml_node& child : node.children()) {
        if (child.type() != pugi::node_pcdata && child.type() != pugi::node_cdata) continue;
        text += child.value();
    }
    std::string collapsed;
    for (const char c : text) {
        if (!is_space(c)) {
            collapsed += c;
        } else if (!collapsed.empty() && collapsed.back() != ' ') {
            collapsed += ' ';
        }
    }
    while (!collapsed.empty() && collapsed.back() == ' ')
        collapsed.pop_back();
    return collapsed;
}

bool has_control(std::string_view text) {
    return std::ranges::any_of(text, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    });
}

bool is_decimal(std::string_view text) {
    if (text.size() > number_length_max) return false;
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    const auto point = std::min(text.find('.'), text.size());
    const auto digits = [](std::string_view part) {
        return std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    };
    const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
    return digits(text.substr(0, point)) && digits(fraction) && point + fraction.size() > 0;
}

struct Node {
    enum class Kind : std::uint8_t { place, transition, place_reference, transition_reference };
    Kind kind = Kind::place;
    std::uint32_t index = 0;  ///< of a place or transition
    std::string refers_to{};  ///< of a reference
    std::ptrdiff_t offset = 0;
};

class Reader {
public:
    /// `xml`: UTF-8.
    Reader(std::string_view xml, const ReadLimits& limits) : xml_(xml), limits_(limits) {}

    base::Result<Document> read() {
        const XmlLimits limits{.bytes_max = limits_.bytes_max, .depth_max = limits_.depth_max};
        if (auto ready = load(tree_, xml_, limits); !ready) {
            return base::fail(std::move(ready.error()));
        }
        const xml_node net = the_net();
        const bool usable = faults_.empty();
        if (usable) {
            check_shape(tree_.document_element(), [this](std::ptrdiff_t at, std::string message) {
                fault(at, std::move(message), base::ErrorCode::unsupported);
            });
        }
        if (usable) {
            document_.net.name = label_of(net, "name").value_or(net.attribute("id").value());
            check_text(net, document_.net.name);
            read_nodes(net);
        }
        if (faults_.empty()) read_arcs();
        if (faults_.empty()) return std::move(document_);
        if (fault_count_ > faults_.size()) {
            faults_.push_back(
                {"",
                 base::ErrorCode::validation,
                 fmt::format("and {} more faults", fault_count_ - faults_.size())}
            );
        }
        const std::string message = fmt::format("{}: {}", faults_[0].pointer, faults_[0].message);
        return base::fail(
            base::Error{faults_[0].code, "this PNML file is not usable: " + message, "", faults_}
        );
    }

private:
    void fault(
        std::ptrdiff_t offset,
        std::string message,
        base::ErrorCode code = base::ErrorCode::validation
    ) {
        ++fault_count_;
        if (faults_.size() < faults_max) {
            faults_.push_back({line_of(xml_, offset), code, std::move(message)});
        }
    }

    xml_node the_net() {
        const xml_node root = tree_.document_element();
        if (local_name(root) != "pnml") {
            fault(root.offset_debug(), fmt::format("the root is <pnml>, not <{}>", root.name()));
            return {};
        }
        xml_node net;
        for (const xml_node& child : root.children()) {
            if (child.type() != pugi::node_element) continue;
            if (local_name(child) != "net") continue;
            if (net) {
                fault(child.offset_debug(), "a second <net>: one file holds one net here");
            } else {
                net = child;
            }
        }
        if (!net) {
            fault(root.offset_debug(), "<pnml> holds no <net>");
        } else if (const std::string_view type = net.attribute("type").value();
                   type != ptnet_type && type != core_type) {
            fault(
                net.offset_debug(),
                fmt::format(
                    "the net is of type '{}'; only place/transition nets are read: '{}' or '{}'",
                    type,
                    ptnet_type,
                    core_type
                ),
                base::ErrorCode::unsupported
            );
        }
        return net;
    }

    /// The <text> of a label such as <name>; nothing when there is no such label.
    std::optional<std::string> label_of(const xml_node& node, std::string_view label) {
        std::optional<std::string> found;
        for (const xml_node& child : node.children()) {
            if (local_name(child) != label) continue;
            if (found) fault(child.offset_debug(), fmt::format("<{}> is given twice", label));
            found.emplace();
            bool given = false;
            for (const xml_node& part : child.children()) {
                if (local_name(part) != "text") continue;
                if (given) fault(part.offset_debug(), fmt::format("<{}> has two texts", label));
                given = true;
                *found = text_inside(part);
            }
        }
        return found;
    }

    void check_text(const xml_node& node, std::string_view text) {
        if (text.size() > id_length_max || has_control(text) || !base::valid_utf8(text)) {
            fault(
                node.offset_debug(),
                fmt::format(
                    "ids and names have at most {} bytes and no control characters", id_length_max
                )
            );
        }
    }

    std::optional<Count> count_of(const xml_node& node, std::string_view label) {
        const auto text = label_of(node, label);
        if (!text) return std::nullopt;
        Count count = 0;
        const char* const end = text->data() + text->size();
        const auto [at, error] = std::from_chars(text->data(), end, count);
        if (text->empty() || at != end || error == std::errc::invalid_argument) {
            fault(
                node.offset_debug(),
                fmt::format("<{}> is '{:.40}', which is not a natural number", label, *text)
            );
            return std::nullopt;
        }
        if (error != std::errc{} || count > count_max) {
            fault(
                node.offset_debug(),
                fmt::format("<{}> is '{:.40}', more than {}", label, *text, count_max),
                base::ErrorCode::too_large
            );
            return std::nullopt;
        }
        return count;
    }

    std::optional<Position> position_of(const xml_node& node) {
        for (const xml_node& child : node.children()) {
            if (local_name(child) != "graphics") continue;
            for (const xml_node& part : child.children()) {
                if (local_name(part) != "position") continue;
                Position position{part.attribute("x").value(), part.attribute("y").value()};
                if (is_decimal(position.x) && is_decimal(position.y)) return position;
                fault(part.offset_debug(), "<position> needs decimal numbers x and y");
                return std::nullopt;
            }
        }
        return std::nullopt;
    }

    /// Fills `nodes_` and `arcs_` from the net and its pages.
    void read_nodes(const xml_node& net) {
        std::vector<xml_node> containers{net};
        while (!containers.empty()) {
            const xml_node container = containers.back();
            containers.pop_back();
            std::vector<xml_node> pages;
            for (const xml_node& child : container.children()) {
                if (child.type() != pugi::node_element) continue;
                const std::string_view name = local_name(child);
                if (name == "page") {
                    pages.push_back(child);
                } else if (name == "arc") {
                    arcs_.push_back(child);
                } else {
                    read_node(child);
                }
                if (nodes_.size() > limits_.nodes_max || arcs_.size() > limits_.arcs_max) {
                    return fault(
                        child.offset_debug(),
                        fmt::format(
                            "a net has at most {} nodes and {} arcs",
                            limits_.nodes_max,
                            limits_.arcs_max
                        ),
                        base::ErrorCode::too_large
                    );
                }
            }
            containers.insert(containers.end(), pages.rbegin(), pages.rend());
        }
    }

    void read_node(const xml_node& node) {
        const std::string_view name = local_name(node);
        Node made{.offset = node.offset_debug()};
        if (name == "place") {
            made.index = static_cast<std::uint32_t>(document_.net.places.size());
            document_.net.places.push_back(
                {.id = node.attribute("id").value(),
                 .name = label_of(node, "name").value_or(""),
                 .initial = count_of(node, "initialMarking").value_or(0),
                 .capacity = {}}
            );
            check_text(node, document_.net.places.back().name);
            document_.place_positions.push_back(position_of(node));
        } else if (name == "transition") {
            made.kind = Node::Kind::transition;
            made.index = static_cast<std::uint32_t>(document_.net.transitions.size());
            auto& transition = document_.net.transitions.emplace_back();
            transition.id = node.attribute("id").value();
            transition.name = label_of(node, "name").value_or("");
            check_text(node, transition.name);
            document_.transition_positions.push_back(position_of(node));
        } else if (name == "referencePlace" || name == "referenceTransition") {
            made.kind = name == "referencePlace" ? Node::Kind::place_reference
                                                 : Node::Kind::transition_reference;
            made.refers_to = node.attribute("ref").value();
        } else {
            return;
        }
        const std::string id = node.attribute("id").value();
        if (id.empty() || id.find(' ') != std::string::npos) {
            return fault(made.offset, fmt::format("<{}> needs an id without spaces", name));
        }
        check_text(node, id);
        if (!nodes_.try_emplace(id, std::move(made)).second) {
            fault(node.offset_debug(), fmt::format("id '{}' is given twice", id));
        }
    }

    /// The place or transition that an id means, through any references.
    const Node* resolved(const xml_node& arc, const char* attribute) {
        std::string id = arc.attribute(attribute).value();
        for (std::size_t steps = 0; steps <= references_max; ++steps) {
            const auto found = nodes_.find(id);
            if (found == nodes_.end()) {
                fault(arc.offset_debug(), fmt::format("{} '{:.100}' is no node", attribute, id));
                return nullptr;
            }
            const Node& node = found->second;
            if (node.refers_to.empty()) return check_kind(arc, attribute, node) ? &node : nullptr;
            id = node.refers_to;
        }
        fault(
            arc.offset_debug(),
            fmt::format(
                "{} refers to itself in a circle, or through more than {} others",
                attribute,
                references_max
            )
        );
        return nullptr;
    }

    bool check_kind(const xml_node& arc, const char* attribute, const Node& node) {
        const auto first = nodes_.find(arc.attribute(attribute).value());
        const bool wants_place = first->second.kind == Node::Kind::place ||
                                 first->second.kind == Node::Kind::place_reference;
        const bool reference = node.kind == Node::Kind::place_reference ||
                               node.kind == Node::Kind::transition_reference;
        if (!reference && wants_place == (node.kind == Node::Kind::place)) return true;
        fault(
            first->second.offset, fmt::format("'{}' refers to nothing of its kind", first->first)
        );
        return false;
    }

    /// An id stands for one thing; of two arcs with one id, one could be the other's correction.
    void check_arc(const xml_node& arc) {
        const std::string_view id = arc.attribute("id").value();
        if (id.empty() || id.contains(' ')) {
            fault(arc.offset_debug(), "<arc> needs an id without spaces");
        } else if (!arc_ids_.insert(id).second || nodes_.contains(std::string(id))) {
            fault(arc.offset_debug(), fmt::format("id '{:.100}' is duplicated", id));
        }
        const auto type = label_of(arc, "arctype");
        if (type && *type != "normal") {
            fault(
                arc.offset_debug(),
                fmt::format("arcs of type '{:.40}' are not read, only normal ones", *type),
                base::ErrorCode::unsupported
            );
        }
    }

    void read_arcs() {
        for (const xml_node& arc : arcs_) {
            check_arc(arc);
            const Count weight = count_of(arc, "inscription").value_or(1);
            const Node* const source = resolved(arc, "source");
            const Node* const target = resolved(arc, "target");
            if (source == nullptr || target == nullptr) continue;
            if (source->kind == target->kind) {
                fault(
                    arc.offset_debug(),
                    fmt::format(
                        "arc '{}' leads from a {} to a {}",
                        arc.attribute("id").value(),
                        source->kind == Node::Kind::place ? "place" : "transition",
                        target->kind == Node::Kind::place ? "place" : "transition"
                    )
                );
            } else if (weight == 0) {
                fault(arc.offset_debug(), "the weight of an arc is at least 1");
            } else {
                add_arc(arc, *source, *target, weight);
            }
        }
    }

    void add_arc(const xml_node& arc, const Node& source, const Node& target, Count weight) {
        const bool consumes = source.kind == Node::Kind::place;
        auto& transition = document_.net.transitions[consumes ? target.index : source.index];
        const PlaceId place = consumes ? source.index : target.index;
        auto& list = consumes ? transition.consume : transition.produce;
        const auto key =
            (static_cast<std::uint64_t>(consumes ? target.index : source.index) << 33U) |
            (static_cast<std::uint64_t>(place) << 1U) | (consumes ? 1U : 0U);
        const auto [at, fresh] = arc_index_.try_emplace(key, list.size());
        if (fresh) list.push_back(PtArc{.place = place, .weight = 0});
        Count& sum = list[at->second].weight;
        sum += weight;
        if (sum > count_max) {
            fault(
                arc.offset_debug(),
                fmt::format("several arcs sum to more than {}", count_max),
                base::ErrorCode::too_large
            );
            sum = count_max;
        }
    }

    std::string_view xml_;
    const ReadLimits& limits_;
    pugi::xml_document tree_;
    Document document_;
    std::unordered_map<std::string, Node> nodes_;
    std::unordered_map<std::uint64_t, std::size_t> arc_index_;
    std::vector<xml_node> arcs_;
    std::unordered_set<std::string_view> arc_ids_;
    std::vector<base::ErrorDetail> faults_;
    std::size_t fault_count_ = 0;
};

}  // namespace

base::Result<Document> read(std::string_view xml, const ReadLimits& limits) {
    if (xml.size() > limits.bytes_max) return base::fail(too_long(xml.size(), limits.bytes_max));
    const auto text = utf8_text(xml);
    if (!text) return base::fail(text.error());
    return Reader(*text, limits).read();
}

}  // namespace nets::pnml
