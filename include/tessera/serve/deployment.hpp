// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/http.hpp>
#include <tessera/serve/metrics.hpp>
#include <tessera/serve/sequences.hpp>

#include <atomic>

namespace tessera {

struct deployment_options {
  batch_options batch = {};
  sequence_options sequences = {};
};

/// One version of a model at work: its parameters, its batches, its sequences and what is counted
/// of them.
class deployment {
 public:
  deployment(std::string model_name, std::string version_name,
             std::shared_ptr<served_model const> served, deployment_options const& options,
             metrics& counted)
      : name(std::move(model_name)),
        version(std::move(version_name)),
        model(std::move(served)),
        sequences(model, options.sequences),
        counted_(counted),
        rows_(counted.histogram_of("nn_inference_batch_size", "Rows of a batch.", labels(),
                                   {1, 2, 4, 8, 16, 32, 64, 128, 256})),
        seconds_(counted.histogram_of("nn_inference_duration_seconds",
                                      "Time from a request to its answer.", labels())),
        queue_seconds_(counted.histogram_of("nn_inference_queue_duration_seconds",
                                            "Time that requests wait for their batch.", labels())),
        batches_(model, options.batch,
                 [this](std::size_t rows) { rows_.observe(static_cast<double>(rows)); }) {
    announce();
  }
  deployment(deployment const&) = delete;
  auto operator=(deployment const&) -> deployment& = delete;
  ~deployment() { close(); }

  std::string const name;
  std::string const version;
  std::shared_ptr<served_model const> const model;
  sequence_table sequences;

  [[nodiscard]] auto most_rows() const -> std::size_t { return batches_.most_rows(); }
  /// Errors  http_error 400 for a sequence where there can be none, none where there must be one,
  ///         or one that is not known; 429 where too many wait. False where the version has been
  ///         withdrawn meanwhile: another is to be asked
  [[nodiscard]] auto submit(inference_job job, sequence_request const& sequence) -> bool {
    auto const state = state_for(job, sequence);
    auto const begun = batcher::clock::now();
    auto done = std::move(job.done);
    job.sequence = state;
    job.done = [this, begun, done = std::move(done)](inference_result result) {
      queue_seconds_.observe(result.queue_seconds);
      seconds_.observe(std::chrono::duration<double>(batcher::clock::now() - begun).count());
      done(std::move(result));
    };
    auto const how = batches_.submit(std::move(job));
    auto const lives = how == submission::accepted ? not sequence.end : not sequence.start;
    if (state && not lives) sequences.end(sequence.id, state);
    if (how == submission::full) throw too_many(name + ": too many requests wait");
    return how == submission::accepted;
  }
  void count(unsigned status) {
    counted_
        .counter_of("nn_inference_requests_total", "Requests for an inference.",
                    {{"model", name}, {"version", version}, {"code", std::to_string(status)}})
        .add();
  }
  void announce() { info().set(1); }
  /// Answers what waits, and takes nothing more. The numbers that were counted stay.
  void close() {
    batches_.close();
    // Once: another of this name and version may be served by then.
    if (not closed_.exchange(true)) info().set(0);
  }

 private:
  [[nodiscard]] auto labels() const -> metric_labels {
    return {{"model", name}, {"version", version}};
  }
  [[nodiscard]] auto info() const -> gauge& {
    return counted_.gauge_of("nn_model_info", "1 for versions that are served.", labels());
  }
  auto state_for(inference_job const& job, sequence_request const& asked)
      -> std::shared_ptr<sequence_state> {
    auto const stateful = model->state_bytes() > 0;
    if (not stateful && not asked.id.empty())
      throw http_error(400, name + ": expected no sequence_id, as this model keeps no state");
    if (not stateful) return nullptr;
    if (asked.id.empty())
      throw http_error(400, name + ": expected parameters.sequence_id, a number above 0 or a text");
    if (job.rows != 1)
      throw http_error(
          400, name + ": expected 1 row of a sequence at a time, got " + std::to_string(job.rows));
    if (asked.start) {
      if (auto state = sequences.begin(asked.id)) return state;
      throw too_many(name + ": too many sequences are open");
    }
    if (auto state = sequences.find(asked.id)) return state;
    throw http_error(400, name + ": the sequence \"" + asked.id.substr(0, 60) +
                              "\" is not open: begin it with sequence_start");
  }

  metrics& counted_;
  histogram& rows_;
  histogram& seconds_;
  histogram& queue_seconds_;
  std::atomic<bool> closed_ = false;
  batcher batches_;
};

}  // namespace tessera
