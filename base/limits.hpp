#pragma once

#include "base/json.hpp"

#include <cstddef>
#include <string>
#include <string_view>

/// The largest things that Netwright takes, in one table. Each is checked where a thing comes in or
/// is rendered. Whatever reads it later has the same limit or a wider one, so what was accepted
/// reads back.
namespace base::limits {

inline constexpr std::size_t kibibyte = std::size_t{1} << 10U;
inline constexpr std::size_t mebibyte = std::size_t{1} << 20U;

// JSON.

/// One value from outside (a body, a net, what a tool prints), or rendered by an expression.
inline constexpr JsonLimits accepted{};
/// What was accepted and has been wrapped since: a record, a dead letter, a kept answer, a view.
/// Wider than anything that any version has written.
inline constexpr JsonLimits stored{.bytes_max = 1024 * mebibyte, .depth_max = 256};

// Tokens and records.

/// The data of one token, in canonical form: the inline limit.
inline constexpr std::size_t token_bytes_max = 128 * kibibyte;
/// The tokens that one firing produces, or that one request puts, together.
inline constexpr std::size_t firing_bytes_max = 32 * mebibyte;
/// What one template renders to, the values that the read arcs of one firing saw together, and the
/// result of an agent.
inline constexpr std::size_t rendered_bytes_max = accepted.bytes_max;
/// The tokens that one dead letter quotes; it names the others.
inline constexpr std::size_t letter_bytes_max = 32 * mebibyte;
/// The message of an error in a record; a longer one is cut, and says so.
inline constexpr std::size_t error_message_bytes_max = 64 * kibibyte;
/// The faults that an error in a record lists; it counts the others.
inline constexpr std::size_t error_details_max = 1000;
/// A reason that a person or an agent gives.
inline constexpr std::size_t reason_bytes_max = 4 * kibibyte;
/// A tool's entry in the catalog, in canonical form.
inline constexpr std::size_t tool_entry_bytes_max = mebibyte;

// Calls: what a transition or a command token asks for, and what an executor is sent.

/// One argument, one value of an environment variable, one name.
inline constexpr std::size_t argument_bytes_max = 64 * kibibyte;
inline constexpr std::size_t argv_count_max = 1024;
inline constexpr std::size_t env_count_max = 256;
/// All arguments and variables together: a program gets no more from the kernel.
inline constexpr std::size_t arguments_bytes_max = mebibyte;
/// The text of `bash exec`.
inline constexpr std::size_t command_bytes_max = 128 * kibibyte;
/// Bytes for a job's standard input.
inline constexpr std::size_t input_bytes_max = 4 * mebibyte;
/// The arguments of a `call`, defaults filled in.
inline constexpr std::size_t args_bytes_max = mebibyte;
/// A script that travels with its job.
inline constexpr std::size_t content_inline_bytes_max = mebibyte;
/// A prepared call as its record keeps it.
inline constexpr std::size_t call_bytes_max = 16 * mebibyte;

/// How deep a JSON text nests: 0 for a scalar. `json` is well-formed.
std::size_t json_depth(std::string_view json);

/// Text for a record: invalid UTF-8 is replaced, and what is beyond `bytes_max` is cut off at a
/// character, with a note of how much that was.
std::string recordable_text(std::string_view text, std::size_t bytes_max);

}  // namespace base::limits
