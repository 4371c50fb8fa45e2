#include "bench/report.h"

#include <inttypes.h>

static const struct {
    const char *name;
    double quantile;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

#define QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static double report_rate(const struct report *report)
{
    return report->seconds > 0 ? (double)report->requests / report->seconds : 0;
}

void report_text(const struct report *report, const struct bench_options *options, FILE *out)
{
    fprintf(out,
            "%" PRIu64 " requests in %.2f s: %.0f/s (%" PRIu64 " connections, pipeline %" PRIu64
            ", %" PRIu64 " thread%s)\n",
            report->requests, report->seconds, report_rate(report), options->connections,
            options->pipeline, options->threads, options->threads == 1 ? "" : "s");
    fprintf(out, "latency ms:");
    for (size_t i = 0; i < QUANTILES; i++)
        fprintf(out, " %s %.3f,", quantiles[i].name,
                (double)histogram_quantile(&report->histogram, quantiles[i].quantile) / 1e6);
    fprintf(out, " max %.3f, mean %.3f\n", (double)report->histogram.max / 1e6,
            histogram_mean(&report->histogram) / 1e6);
    fprintf(out, "sent %.1f MB, received %.1f MB, errors %" PRIu64 "\n",
            (double)report->bytes_sent / 1e6, (double)report->bytes_received / 1e6, report->errors);
    if (report->unsent > 0)
        fprintf(out,
                "%" PRIu64
                " requests were due, but no connection was free for them before the end\n",
                report->unsent);
}

/* Writes a JSON string; characters that are not plain ASCII are escaped. */
static void json_text(const char *text, FILE *out)
{
    fputc('"', out);
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (*at < 0x20 || *at >= 0x7f)
            fprintf(out, "\\u%04x", *at);
        else
            fputc(*at, out);
    }
    fputc('"', out);
}

void report_json(const struct report *report, const struct bench_options *options, FILE *out)
{
    fprintf(out, "{\"requests\":%" PRIu64 ",\"seconds\":%.6f,\"rate\":%.1f", report->requests,
            report->seconds, report_rate(report));
    fprintf(out, ",\"connections\":%" PRIu64 ",\"pipeline\":%" PRIu64 ",\"threads\":%" PRIu64,
            options->connections, options->pipeline, options->threads);
    fprintf(out, ",\"latency_us\":{");
    for (size_t i = 0; i < QUANTILES; i++)
        fprintf(out, "\"%s\":%.1f,", quantiles[i].name,
                (double)histogram_quantile(&report->histogram, quantiles[i].quantile) / 1e3);
    fprintf(out, "\"max\":%.1f,\"mean\":%.1f}", (double)report->histogram.max / 1e3,
            histogram_mean(&report->histogram) / 1e3);
    fprintf(out, ",\"bytes_sent\":%" PRIu64 ",\"bytes_received\":%" PRIu64 ",\"unsent\":%" PRIu64,
            report->bytes_sent, report->bytes_received, report->unsent);
    fprintf(out, ",\"errors\":%" PRIu64 ",\"first_error\":", report->errors);
    if (report->errors > 0)
        json_text(report->first_error, out);
    else
        fputs("null", out);
    fputs("}\n", out);
}

void report_progress(uint64_t done, uint64_t before, double seconds, double since_seconds,
                     const struct bench_options *options, FILE *out)
{
    fprintf(out, "%6.0f s  %" PRIu64 " requests", seconds, done);
    if (options->requests > 0)
        fprintf(out, " of %" PRIu64, options->requests);
    fprintf(out, "  %.0f/s\n", (double)(done - before) / since_seconds);
    fflush(out);
}
