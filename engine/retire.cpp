#include "engine/retire.hpp"

#include "base/json.hpp"
#include "engine/reader.hpp"

#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace engine {

namespace {

// Nothing that can still happen would change what the index says of it. What a completed case left
// on end places may be taken by another net: that no longer concerns the case.
bool may_leave(const State& state, const Case& over) {
    if (over.state == CaseState::running || over.dead_letters != 0) return false;
    if (over.state != CaseState::completed && over.tokens != 0) return false;
    // Whoever waits for it looks at it again after a restart.
    return over.operations.empty() && state.find_operation(over.parent) == nullptr;
}

void append_field(std::string& out, std::string_view key, std::string_view text) {
    out += fmt::format(R"(,"{}":)", key);
    base::append_canonical_string(out, text);
}

void append_summary(std::string& out, const OperationSummary& summary) {
    out += R"({"error":)";
    base::append_canonical_string(out, summary.error);
    out += fmt::format(R"(,"id":{})", summary.id.seq);
    append_field(out, "state", summary.state);
    append_field(out, "toolId", summary.tool_id);
    append_field(out, "transition", summary.transition);
    append_field(out, "versionHash", summary.version_hash);
    out += '}';
}

OperationSummary read_summary(Reader& reader) {
    OperationSummary summary;
    reader.open_object();
    while (const auto key = reader.key()) {
        if (*key == "error")
            summary.error = reader.string();
        else if (*key == "id")
            summary.id = {reader.unsigned_integer()};
        else if (*key == "state")
            summary.state = reader.string();
        else if (*key == "toolId")
            summary.tool_id = reader.string();
        else if (*key == "transition")
            summary.transition = reader.string();
        else if (*key == "versionHash")
            summary.version_hash = reader.string();
        else
            reader.raw();
    }
    return summary;
}

}  // namespace

std::string retired_text(const Case& leaving) {
    std::string out = fmt::format(R"({{"ended":{},"ends":[)", leaving.ended.us);
    for (const auto place : leaving.deployment->ends())
        out += fmt::format("{}{}", out.back() == '[' ? "" : ",", place);
    out += R"(],"finished":[)";
    for (const auto& summary : leaving.finished) {
        if (out.back() != '[') out += ',';
        append_summary(out, summary);
    }
    out += fmt::format(R"(],"id":{})", leaving.id.seq);
    append_field(out, "net", leaving.deployment->net->name);
    append_field(out, "owner", leaving.owner);
    if (leaving.parent) out += fmt::format(R"(,"parent":{})", leaving.parent.seq);
    out += fmt::format(
        R"(,"started":{},"state":{})", leaving.started.us, static_cast<int>(leaving.state)
    );
    append_field(out, "version", leaving.deployment->net->version);
    out += '}';
    return out;
}

base::Result<RetiredCase> retired_case(std::string_view text) {
    RetiredCase made;
    Reader reader(text);
    reader.open_object();
    while (const auto key = reader.key()) {
        if (*key == "ended")
            made.ended = {reader.integer()};
        else if (*key == "id")
            made.id = {reader.unsigned_integer()};
        else if (*key == "net")
            made.net = reader.string();
        else if (*key == "owner")
            made.owner = reader.string();
        else if (*key == "parent")
            made.parent = {reader.unsigned_integer()};
        else if (*key == "started")
            made.started = {reader.integer()};
        else if (*key == "state")
            made.state = static_cast<CaseState>(reader.unsigned_integer());
        else if (*key == "version")
            made.version = reader.string();
        else if (*key == "ends") {
            reader.open_array();
            while (reader.element())
                made.ends.push_back(static_cast<places::PlaceId>(reader.unsigned_integer()));
        } else if (*key == "finished") {
            reader.open_array();
            while (reader.element())
                made.finished.push_back(read_summary(reader));
        } else
            reader.raw();
    }
    const bool known = made.state > CaseState::running && made.state <= CaseState::cancelled;
    if (reader.at_end() && known && made.id) return made;
    return base::fail(
        base::ErrorCode::tamper,
        "an entry of the index of cases is not what was written",
        "netwright audit verify --state; a restored backup has its own index"
    );
}

void reconsider(State& state, Case& changed) {
    const bool leaves = may_leave(state, changed);
    if (leaves == (changed.retirable != 0)) return;
    if (leaves) {
        changed.retirable = state.seq;
        state.retirable.emplace(state.seq, changed.id);
    } else {
        state.retirable.erase({changed.retirable, changed.id});
        changed.retirable = 0;
    }
}

void retire(State& state) {
    while (state.retirable.size() > retirable_kept) {
        const auto id = state.retirable.begin()->second;
        state.retirable.erase(state.retirable.begin());
        const auto found = state.cases.find(id);
        if (found->second.tokens != 0)
            state.retired_owners.emplace(id, &*state.owners.insert(found->second.owner).first);
        state.leaving.push_back(std::move(found->second));
        state.cases.erase(found);
        ++state.retired;
    }
}

}  // namespace engine
