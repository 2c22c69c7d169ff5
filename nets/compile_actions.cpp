#include "nets/compile_parts.hpp"
#include "nets/fields.hpp"
#include "nets/grammar.hpp"
#include "nets/interpolation.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace nets {

namespace {

constexpr std::size_t tool_id_bytes_max = 128;
constexpr base::Duration interval_min = base::milliseconds(10);

bool valid_tool_id(std::string_view id) {
    if (id.empty() || id.size() > tool_id_bytes_max || id.contains("__")) return false;
    bool begins = true;  // a segment
    for (const char c : id) {
        const bool letter = c >= 'a' && c <= 'z';
        const bool later = (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (c == '.' ? begins : !letter && (begins || !later)) return false;
        begins = c == '.';
    }
    return !begins;
}

void compile_call(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& vocabulary,
    Transition& into
) {
    const Fields fields(value, at, draft.faults, grammar::call);
    Call call;
    if (const auto* id = fields.require("toolId")) {
        call.tool_id = read_text(*id, at / "toolId", draft.faults).value_or("");
        if (id->is_string() && !valid_tool_id(call.tool_id)) {
            draft.faults.add(
                at / "toolId",
                fmt::format(
                    "{} is no tool id: segments of a-z, 0-9, '_' and '-' that begin with a letter, "
                    "joined by dots, at most {} characters, no '__'",
                    in_quotes(call.tool_id),
                    tool_id_bytes_max
                )
            );
        }
    }
    if (const auto* version = fields.find("version")) {
        call.version = read_text(*version, at / "version", draft.faults);
        if (call.version == "") draft.faults.add(at / "version", "must not be empty");
    }
    const base::Json nothing = base::Json::object();
    const auto* args = fields.find("args");
    if (args == nullptr) args = &nothing;
    const auto* text = args->get_ptr<const std::string*>();
    const bool whole = text != nullptr && without_braces(*text).size() != text->size();
    if (!args->is_object() && !whole) {
        draft.faults.add(at / "args", wrong_type("an object, or '${...}' that yields one", *args));
    } else if (auto made = read_template(*args, at / "args", draft, vocabulary)) {
        call.args = std::move(*made);
    }
    into.action = std::move(call);
}

void compile_command(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& /*vocabulary*/,
    Transition& into
) {
    const Fields fields(value, at, draft.faults, grammar::command);
    Command command;
    const auto* from = fields.find("from");
    if (from == nullptr) {
        if (value.is_object() && into.in.size() != 1) {
            draft.faults.add(at, "the field 'from' is missing: which input is the command?");
        }
    } else if (const auto alias = read_text(*from, at / "from", draft.faults)) {
        const auto found = std::ranges::find(into.in, *alias, &InputArc::alias);
        if (found == into.in.end()) {
            std::vector<std::string_view> aliases;
            aliases.reserve(into.in.size());
            for (const auto& arc : into.in)
                aliases.push_back(arc.alias);
            const auto hint = did_you_mean(*alias, aliases);
            draft.faults.add(
                at / "from", fmt::format("no input is called {}{}", in_quotes(*alias), hint)
            );
            return;
        }
        command.from = static_cast<std::size_t>(found - into.in.begin());
    }
    if (command.from < into.in.size()) {
        const auto& arc = into.in[command.from];
        const bool bound = arc.kind == ArcKind::consume || arc.kind == ArcKind::read;
        if (arc.takes_list || !bound) {
            draft.faults.add(
                at, fmt::format("the input '{}' does not bind exactly one token", arc.alias)
            );
        }
    }
    into.action = command;
}

void compile_http(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& vocabulary,
    Transition& /*into*/
) {
    const Fields fields(value, at, draft.faults, grammar::http);
    if (const auto* method = fields.find("method")) {
        constexpr auto methods =
            std::to_array<std::string_view>({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"});
        read_choice(*method, at / "method", draft.faults, methods);
    }
    if (const auto* url = fields.require("url")) {
        if (read_text(*url, at / "url", draft.faults)) {
            read_template(*url, at / "url", draft, vocabulary);
        }
    }
    if (const auto* headers = fields.find("headers")) {
        if (expect_object(*headers, at / "headers", draft.faults)) {
            read_template(*headers, at / "headers", draft, vocabulary);
        }
    }
    if (const auto* body = fields.find("body")) {
        read_template(*body, at / "body", draft, vocabulary);
    }
    if (const auto* auth = fields.find("auth")) read_text(*auth, at / "auth", draft.faults);
    if (const auto* success = fields.find("success")) {
        const At here = at / "success";
        if (expect_list(*success, here, draft.faults)) {
            for (std::size_t i = 0; i < success->size(); ++i)
                read_integer((*success)[i], here / i, draft.faults, {100, 599});
        }
    }
    if (const auto* timeout = fields.find("timeout")) {
        read_duration(*timeout, at / "timeout", draft.faults, {base::milliseconds(1)});
    }
    draft.needs(Feature::http, at);
}

void compile_llm(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& vocabulary,
    Transition& /*into*/
) {
    const Fields fields(value, at, draft.faults, grammar::llm);
    if (const auto* endpoint = fields.require("endpoint")) {
        read_text(*endpoint, at / "endpoint", draft.faults);
    }
    if (const auto* model = fields.find("model")) read_text(*model, at / "model", draft.faults);
    for (const std::string_view field : {"system", "prompt", "messages"}) {
        const auto* text = fields.find(field);
        if (text != nullptr) read_template(*text, at / field, draft, vocabulary);
    }
    if (fields.has("prompt") == fields.has("messages")) {
        draft.faults.add(at, "needs either 'prompt' or 'messages'");
    }
    if (const auto* schema = fields.find("schema")) {
        expect_object(*schema, at / "schema", draft.faults);
    }
    if (const auto* temperature = fields.find("temperature")) {
        read_number(*temperature, at / "temperature", draft.faults, {0, 2});
    }
    if (const auto* tokens = fields.find("maxTokens")) {
        read_integer(*tokens, at / "maxTokens", draft.faults, {1, 10'000'000});
    }
    draft.needs(Feature::llm, at);
}

// What an agent or a child net is given: the template, or without one the only token bound.
Template read_input(
    const Fields& fields,
    const At& at,
    Draft& draft,
    const Vocabulary& vocabulary,
    const Transition& transition
) {
    if (const auto* input = fields.find("input")) {
        return read_template(*input, at / "input", draft, vocabulary).value_or(Template());
    }
    const bool single = transition.in.size() == 1 && !transition.in.front().alias.contains('-') &&
                        (transition.in.front().kind == ArcKind::consume ||
                         transition.in.front().kind == ArcKind::read);
    if (!single) {
        draft.faults.add(at, "the field 'input' is missing: what of these inputs is it given?");
        return {};
    }
    const auto whole = fmt::format("${{{}}}", transition.in.front().alias);
    return read_template(whole, at / "input", draft, vocabulary).value_or(Template());
}

void compile_agent(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& vocabulary,
    Transition& into
) {
    const Fields fields(value, at, draft.faults, grammar::agent);
    Agent agent;
    if (const auto* skill = fields.require("skill")) {
        agent.skill = read_text(*skill, at / "skill", draft.faults).value_or("");
        if (skill->is_string() && agent.skill.empty()) {
            draft.faults.add(at / "skill", "must not be empty");
        }
    }
    if (const auto* persona = fields.find("persona")) {
        agent.persona = read_text(*persona, at / "persona", draft.faults).value_or("");
    }
    if (const auto* budget = fields.find("budget")) {
        if (expect_object(*budget, at / "budget", draft.faults)) {
            agent.budget = base::canonical(*budget);
        }
    }
    if (const auto* steps = fields.find("maxSteps")) {
        const auto most = read_integer(*steps, at / "maxSteps", draft.faults, {1, 1'000'000});
        if (most) agent.steps_max = static_cast<std::uint64_t>(*most);
    }
    agent.input = read_input(fields, at, draft, vocabulary, into);
    into.action = std::move(agent);
}

void compile_net(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& vocabulary,
    Transition& into
) {
    const Fields fields(value, at, draft.faults, grammar::net);
    ChildNet child;
    if (const auto* name = fields.require("name")) {
        child.net = read_name(*name, at / "name", draft.faults).value_or("");
    }
    if (const auto* version = fields.find("version")) {
        child.version = read_text(*version, at / "version", draft.faults);
    }
    child.input = read_input(fields, at, draft, vocabulary, into);
    into.action = std::move(child);
}

void compile_every(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& /*vocabulary*/,
    Transition& into
) {
    Every every;
    every.interval = read_duration(value, at, draft.faults, {interval_min}).value_or(interval_min);
    into.action = every;
}

void compile_cron(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& /*vocabulary*/,
    Transition& into
) {
    Cron cron{.zone = "UTC"};
    const auto read_expression_at = [&](const base::Json& expression, const At& here) {
        const auto text = read_text(expression, here, draft.faults);
        if (!text) return;
        cron.expression = *text;
        auto parsed = parse_cron(*text);
        if (parsed) {
            cron.fields = *parsed;
        } else {
            draft.faults.add_all(here, parsed.error());
        }
    };
    if (value.is_string()) {
        read_expression_at(value, at);
    } else {
        const Fields fields(value, at, draft.faults, grammar::cron);
        if (const auto* expression = fields.require("expression")) {
            read_expression_at(*expression, at / "expression");
        }
        if (const auto* zone = fields.find("zone")) {
            cron.zone = read_text(*zone, at / "zone", draft.faults).value_or("");
            // A path into the machine's files is none.
            const auto plain = [](char c) {
                return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '+' || c == '/';
            };
            if (zone->is_string() && (cron.zone.empty() || cron.zone.starts_with('/') ||
                                      !std::ranges::all_of(cron.zone, plain))) {
                draft.faults.add(
                    at / "zone",
                    fmt::format(
                        "{} is no name of a time zone, such as Europe/Berlin", in_quotes(cron.zone)
                    )
                );
            }
        }
    }
    into.action = std::move(cron);
}

void compile_link(
    const base::Json& value,
    const At& at,
    Draft& draft,
    const Vocabulary& /*vocabulary*/,
    Transition& into
) {
    const Fields fields(value, at, draft.faults, grammar::link);
    Link link;
    if (const auto* type = fields.require("type")) {
        link.type = read_name(*type, at / "type", draft.faults).value_or("");
    }
    for (const std::string_view field : {"from", "to"}) {
        const auto* place = fields.require(field);
        if (place == nullptr) continue;
        const auto index = read_place(*place, at / field, draft, PlaceUse::read);
        (field == "from" ? link.from : link.to) = index.value_or(0);
    }
    if (!into.in.empty()) draft.faults.add(at, "a link never fires: it has no 'in'");
    into.action = std::move(link);
}

constexpr auto entries = std::to_array<ActionEntry>({
    {.field = "call", .compile = &compile_call, .has_result = true, .has_meta = true},
    {.field = "command", .compile = &compile_command, .has_result = true},
    {.field = "http", .compile = &compile_http, .has_result = true},
    {.field = "llm", .compile = &compile_llm, .has_result = true},
    {.field = "agent", .compile = &compile_agent, .has_result = true, .has_meta = true},
    {.field = "net", .compile = &compile_net, .has_result = true, .has_meta = true},
    {.field = "every", .compile = &compile_every, .starts_alone = true},
    {.field = "cron", .compile = &compile_cron, .starts_alone = true},
    {.field = "link", .compile = &compile_link, .starts_alone = true},
});
static_assert(entries.size() == grammar::action.size());

}  // namespace

const ActionEntry* action_entry(std::string_view field) {
    const auto found = std::ranges::find(entries, field, &ActionEntry::field);
    return found == entries.end() ? nullptr : &*found;
}

}  // namespace nets
