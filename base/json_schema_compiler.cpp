#include "base/json_schema_compiler.hpp"

#include <fmt/format.h>

namespace base::schema {

namespace {

template <class Rules>
Rules& group(std::unique_ptr<Rules>& rules) {
    if (!rules) rules = std::make_unique<Rules>();
    return *rules;
}

// What a node applies to the value that it is itself applied to.
std::vector<NodeId> applied_in_place(const Node& node) {
    std::vector<NodeId> applied;
    if (!node.in_place) return applied;
    const auto& rules = *node.in_place;
    for (const auto* list : {&rules.all_of, &rules.any_of, &rules.exactly_one_of})
        applied.insert(applied.end(), list->begin(), list->end());
    for (const auto& one :
         {rules.reference, rules.negated, rules.condition, rules.then, rules.otherwise}) {
        if (one) applied.push_back(*one);
    }
    for (const auto& [name, id] : rules.with_member)
        applied.push_back(id);
    return applied;
}

}  // namespace

bool deeper_than(const Json& value, std::size_t depth_max) {
    if (!value.is_structured() || value.empty()) return value.is_structured() && depth_max == 0;
    if (depth_max == 0) return true;
    for (const auto& child : value) {
        if (child.is_structured() && deeper_than(child, depth_max - 1)) return true;
    }
    return false;
}

Result<Compiled> Compiler::run(const Json& schema) {
    if (deeper_than(schema, options_.limits.depth_max)) {
        return fail(
            ErrorCode::validation,
            fmt::format("the schema has more than {} levels", options_.limits.depth_max)
        );
    }
    compiled_.limits = options_.limits;
    index_.add_root(schema);
    for (const auto* found : index_.schemas_of_root())
        node(*found);
    add_dynamic_anchors();
    find_endless_loops();
    if (!faults_.empty()) return fail(faults_.error());
    return std::move(compiled_);
}

const Json* Compiler::Source::given(std::string_view keyword) const {
    if (!active(dialect, keyword)) return nullptr;
    const auto found = schema.find(keyword);
    return found == schema.end() ? nullptr : &*found;
}

NodeId Compiler::node(const Json& schema) {
    const auto [known, fresh] = ids_.emplace(&schema, static_cast<NodeId>(compiled_.nodes.size()));
    if (fresh) {
        compiled_.nodes.emplace_back();
        sources_.push_back(&schema);
    }
    return known->second;
}

// Nodes are built until none refers to one that is not; building one may add others, and documents.
void Compiler::add_dynamic_anchors() {
    std::size_t built = 0;
    for (;;) {
        for (; built < sources_.size(); ++built)
            compiled_.nodes[built] = build(*sources_[built]);
        const auto& resources = index_.resources();
        compiled_.dynamic_anchors.resize(resources.size());
        for (std::size_t i = 0; i < resources.size(); ++i) {
            for (const auto& [name, schema] : resources[i].dynamic_anchors)
                compiled_.dynamic_anchors[i].emplace(name, node(*schema));
        }
        if (built == sources_.size()) return;
    }
}

// Depth-first, without recursion: a loop of references may be long.
void Compiler::find_endless_loops() {
    enum class State : std::uint8_t { unseen, open, done };
    std::vector<State> states(compiled_.nodes.size(), State::unseen);
    struct Step {
        NodeId id;
        std::vector<NodeId> applied;
        std::size_t next = 0;
    };
    for (NodeId first = 0; first < states.size(); ++first) {
        if (states[first] != State::unseen) continue;
        std::vector<Step> path;
        const auto enter = [&](NodeId id) {
            states[id] = State::open;
            path.push_back({id, applied_in_place(compiled_.nodes[id])});
        };
        enter(first);
        while (!path.empty()) {
            auto& step = path.back();
            if (step.next == step.applied.size()) {
                states[step.id] = State::done;
                path.pop_back();
                continue;
            }
            const NodeId applied = step.applied[step.next++];
            if (states[applied] == State::unseen) {
                enter(applied);
            } else if (states[applied] == State::open && index_.knows(*sources_[applied])) {
                faults_.add(
                    index_.location(*sources_[applied]),
                    "",
                    ErrorCode::validation,
                    "applies itself to the same value, without end"
                );
            }
        }
    }
}

Node Compiler::build(const Json& schema) {
    if (!index_.knows(schema)) return {};
    // Copies: building looks into further documents, which moves the index's own.
    const Location at = index_.location(schema);
    const Dialect dialect = index_.resources()[at.resource].dialect;
    Node built;
    built.resource = at.resource;
    if (schema.is_boolean()) {
        built.refuses_all = !schema.get<bool>();
        return built;
    }
    const Source source{schema, at, dialect};
    if (!schema.is_object()) {
        wrong(source, "", "a schema must be an object or a boolean");
        return built;
    }
    build_references(source, built);
    if (dialect.draft == SchemaDraft::draft7 && schema.contains("$ref")) return built;
    build_value(source, built);
    build_number(source, built);
    build_string(source, built);
    build_array(source, built);
    build_object(source, built);
    build_dependencies(source, built);
    build_in_place(source, built);
    if (options_.unknown_keywords_refused) note_unknown(source);
    return built;
}

void Compiler::note_unknown(const Source& source) {
    for (const auto& [name, value] : source.schema.items()) {
        if (name.starts_with("x-") || keyword(source.dialect.draft, name) != nullptr) continue;
        faults_.add(
            source.at,
            name,
            ErrorCode::validation,
            fmt::format("'{}' is no keyword of {}", name, base::name(source.dialect.draft))
        );
    }
}

void Compiler::build_references(const Source& source, Node& node) {
    const auto refer = [&](std::string_view keyword) -> std::optional<ReferenceTarget> {
        const auto* given = source.given(keyword);
        if (given == nullptr) return std::nullopt;
        if (!given->is_string()) {
            wrong(source, keyword, "must be a URI reference");
            return std::nullopt;
        }
        return index_.find(source.at, keyword, given->get_ref<const std::string&>());
    };
    if (const auto target = refer("$ref")) {
        group(node.in_place).reference = this->node(*target->schema);
    }
    if (const auto target = refer("$dynamicRef")) {
        group(node.in_place).dynamic_reference = {
            this->node(*target->schema), target->dynamic_anchor
        };
    }
}

void Compiler::build_in_place(const Source& source, Node& node) {
    InPlaceRules rules;
    if (node.in_place) rules = std::move(*node.in_place);
    rules.all_of = children(source, "allOf");
    rules.any_of = children(source, "anyOf");
    rules.exactly_one_of = children(source, "oneOf");
    rules.negated = child(source, "not");
    rules.condition = child(source, "if");
    const auto then = child(source, "then");
    const auto otherwise = child(source, "else");
    if (rules.condition) {
        rules.then = then;
        rules.otherwise = otherwise;
    }
    for (auto& [name, id] : members(source, "dependentSchemas"))
        rules.with_member.emplace(name, id);
    const bool any = rules.reference || rules.dynamic_reference || !rules.all_of.empty() ||
                     !rules.any_of.empty() || !rules.exactly_one_of.empty() || rules.negated ||
                     rules.condition || !rules.with_member.empty();
    if (any) node.in_place = std::make_unique<InPlaceRules>(std::move(rules));
}

void Compiler::build_dependencies(const Source& source, Node& node) {
    const auto required_with = [&](std::string_view keyword, const Json& value, bool or_schemas) {
        if (!value.is_object()) return wrong(source, keyword, "must be an object");
        for (const auto& [name, needed] : value.items()) {
            if (needed.is_array() || !or_schemas) {
                group(node.object).required_with[name] = names(source, keyword, needed);
            } else {
                group(node.in_place).with_member.emplace(name, this->node(needed));
            }
        }
    };
    if (const auto* given = source.given("dependencies"))
        required_with("dependencies", *given, true);
    if (const auto* given = source.given("dependentRequired")) {
        required_with("dependentRequired", *given, false);
    }
}

}  // namespace base::schema
