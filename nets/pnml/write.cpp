#include "nets/pnml/pnml.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>
#include <sstream>
#include <unordered_set>
#include <utility>

namespace nets::pnml {
namespace {

using analysis::PtArc;
using analysis::PtPlace;
using analysis::PtTransition;
using pugi::xml_node;

/// Ids for one XML document, where all kinds of element share one space.
class Ids {
public:
    void reserve(const std::string& id) { taken_.insert(id); }
    std::string fresh(std::string wanted) {
        while (!taken_.insert(wanted).second)
            wanted += '_';
        return wanted;
    }

private:
    std::unordered_set<std::string> taken_;
};

void add_label(xml_node node, const char* label, const std::string& text) {
    node.append_child(label).append_child("text").text().set(text.c_str());
}

void add_position(xml_node node, const std::optional<Position>& position) {
    if (!position) return;
    xml_node at = node.append_child("graphics").append_child("position");
    at.append_attribute("x").set_value(position->x.c_str());
    at.append_attribute("y").set_value(position->y.c_str());
}

std::optional<std::string> obstacle(const analysis::PtNet& net) {
    for (const PtPlace& place : net.places) {
        if (place.capacity) return fmt::format("place '{}' has a capacity", place.id);
    }
    for (const PtTransition& transition : net.transitions) {
        if (!transition.inhibit.empty()) {
            return fmt::format("transition '{}' has an inhibit arc", transition.id);
        }
        if (!transition.reset.empty()) {
            return fmt::format("transition '{}' has a reset arc", transition.id);
        }
    }
    return std::nullopt;
}

class Writer {
public:
    explicit Writer(const Document& document) : document_(document) {}

    std::string write() {
        auto declaration = tree_.append_child(pugi::node_declaration);
        declaration.append_attribute("version").set_value("1.0");
        declaration.append_attribute("encoding").set_value("utf-8");
        xml_node root = tree_.append_child("pnml");
        root.append_attribute("xmlns").set_value("http://www.pnml.org/version-2009/grammar/pnml");
        for (const PtPlace& place : net().places)
            ids_.reserve(place.id);
        for (const PtTransition& transition : net().transitions) {
            transition_ids_.push_back(ids_.fresh(transition.id));
        }
        xml_node page = add_net(root);
        add_places(page);
        add_transitions(page);
        for (std::size_t t = 0; t < net().transitions.size(); ++t)
            add_arcs(page, t);
        std::ostringstream out;
        tree_.save(out, " ", pugi::format_default, pugi::encoding_utf8);
        return std::move(out).str();
    }

private:
    [[nodiscard]] const analysis::PtNet& net() const { return document_.net; }

    xml_node add_net(xml_node root) {
        xml_node node = root.append_child("net");
        node.append_attribute("id").set_value(ids_.fresh("net").c_str());
        node.append_attribute("type").set_value("http://www.pnml.org/version-2009/grammar/ptnet");
        add_label(node, "name", net().name);
        xml_node page = node.append_child("page");
        page.append_attribute("id").set_value(ids_.fresh("page").c_str());
        return page;
    }

    void add_places(xml_node page) {
        for (std::size_t p = 0; p < net().places.size(); ++p) {
            const PtPlace& place = net().places[p];
            xml_node node = page.append_child("place");
            node.append_attribute("id").set_value(place.id.c_str());
            if (!place.name.empty()) add_label(node, "name", place.name);
            if (p < document_.place_positions.size()) {
                add_position(node, document_.place_positions[p]);
            }
            if (place.initial > 0) add_label(node, "initialMarking", fmt::to_string(place.initial));
        }
    }

    void add_transitions(xml_node page) {
        for (std::size_t t = 0; t < net().transitions.size(); ++t) {
            const PtTransition& transition = net().transitions[t];
            xml_node node = page.append_child("transition");
            node.append_attribute("id").set_value(transition_ids_[t].c_str());
            if (!transition.name.empty()) add_label(node, "name", transition.name);
            if (t < document_.transition_positions.size()) {
                add_position(node, document_.transition_positions[t]);
            }
        }
    }

    void add_arcs(xml_node page, std::size_t t) {
        const PtTransition& transition = net().transitions[t];
        for (const PtArc& arc : transition.consume) {
            add_arc(page, net().places[arc.place].id, transition_ids_[t], arc.weight);
        }
        for (const PtArc& arc : transition.produce) {
            add_arc(page, transition_ids_[t], net().places[arc.place].id, arc.weight);
        }
        for (const PtArc& arc : transition.read) {
            const analysis::Count consumed = consumed_by(transition, arc.place);
            if (arc.weight <= consumed) continue;
            const std::string& place = net().places[arc.place].id;
            add_arc(page, place, transition_ids_[t], arc.weight - consumed);
            add_arc(page, transition_ids_[t], place, arc.weight - consumed);
        }
    }

    static analysis::Count consumed_by(const PtTransition& transition, analysis::PlaceId place) {
        for (const PtArc& arc : transition.consume) {
            if (arc.place == place) return arc.weight;
        }
        return 0;
    }

    void add_arc(
        xml_node page, const std::string& source, const std::string& target, analysis::Count weight
    ) {
        xml_node node = page.append_child("arc");
        node.append_attribute("id").set_value(ids_.fresh(fmt::format("a{}", ++arcs_)).c_str());
        node.append_attribute("source").set_value(source.c_str());
        node.append_attribute("target").set_value(target.c_str());
        if (weight != 1) add_label(node, "inscription", fmt::to_string(weight));
    }

    const Document& document_;
    pugi::xml_document tree_;
    Ids ids_;
    std::vector<std::string> transition_ids_;
    std::size_t arcs_ = 0;
};

}  // namespace

base::Result<std::string> write(const Document& document) {
    if (const auto what = obstacle(document.net)) {
        return base::fail(
            base::ErrorCode::unsupported,
            *what + ", which PNML has no word for",
            "export a net of consume, read and output arcs only"
        );
    }
    return Writer(document).write();
}

}  // namespace nets::pnml
