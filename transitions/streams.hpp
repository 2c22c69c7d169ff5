#pragma once

#include "base/json.hpp"
#include "engine/model.hpp"
#include "jobs/outcome.hpp"

#include <cstddef>
#include <string>

/// What a job printed, as it is told: in results, in errors and in the record of the run. Pure.
///
/// Nothing is left out without saying so. A stream `stdout` is told as `stdout`; where its bytes
/// are in the blob store `stdoutUrn` and `stdoutBytes` (its size) name them, and where `stdout` is
/// only its beginning `stdoutTail` is its end. `stdoutReplaced`: bytes that are not UTF-8 were
/// replaced. `stdoutBytesTotal` and `stdoutBytesHead`: it was cut at its cap; so many bytes were
/// printed, and so many of those kept are the beginning.
namespace transitions {

/// Of a result, rendered. What a template puts around one has room within a token.
inline constexpr std::size_t result_bytes_max = engine::token_bytes_max - (std::size_t{8} << 10U);
/// Of the details of an error, rendered.
inline constexpr std::size_t details_bytes_max = std::size_t{64} << 10U;
/// Of each stream, rendered, in the record of a run.
inline constexpr std::size_t recorded_stream_bytes_max = std::size_t{16} << 10U;

struct Streams {
    bool standard_output = false;
    bool standard_error = false;
    [[nodiscard]] bool any() const { return standard_output || standard_error; }
};
/// Those whose bytes came inline, and must be in the blob store before the outcome is settled: too
/// long for what tells them, cut, or not UTF-8.
Streams to_be_kept(const jobs::Outcome& outcome);

/// The length of a text as a JSON string.
std::size_t rendered_size(std::string_view text);

/// `{exitCode, signal?, durationMs, truncated, stdout..., stderr...}`, rendered in at most
/// `bytes_max` (at least 64 KiB): the longer stream is told by its two ends first.
base::Json run_json(const jobs::Outcome& outcome, std::size_t bytes_max);
/// The same with each stream in at most `recorded_stream_bytes_max`, and usage and limits.
base::Json recorded_run(const jobs::Outcome& outcome);
/// `{wallMs, cpuMs, memoryPeakBytes, pidsPeak, limits?}` of an attempt that ran.
base::Json usage_json(const jobs::Outcome& outcome);

/// Of an answer that was cut where the author allows that: `{truncated: true, preview, tail, urn,
/// size, bytesHead, bytesTotal}`.
base::Json cut_answer(const jobs::Output& output);
/// Of one that is too long: `{preview, size, urn}`.
base::Json long_answer(const jobs::Output& output);

}  // namespace transitions
