/*
 * A run from its options to its exit code: compile the mix, open all connections, then let the drivers run
 * the warm-up and the measured phase while this thread only shows progress. All connections are open
 * before the first request is sent, so the time for this is not measured.
 */
#include "bench/bench.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/bench_options.h"
#include "bench/connect.h"
#include "bench/driver.h"
#include "bench/report.h"

#define EXIT_ERRORS 1
#define EXIT_BROKEN 2
#define BUFFERS_MAX (4ULL << 30)
#define FIELDS_MAX  (BENCH_HEADER_MAX + CONNECT_HOST_MAX + 32)

/* The only global: a signal handler has no argument. */
static atomic_bool bench_stop;

struct bench {
    struct bench_options options;
    struct driver_mix mix;
    struct line_file lines;
    struct driver *drivers;
    size_t opened;
    struct report report;
    char problem[512];
};

static void bench_interrupt(int signal_number)
{
    (void)signal_number;
    atomic_store_explicit(&bench_stop, true, memory_order_relaxed);
}

static void mix_free(struct driver_mix *mix)
{
    for (size_t i = 0; i < mix->count; i++)
        template_free(mix->templates[i]);
    template_free(mix->prelude);
    memset(mix, 0, sizeof(*mix));
}

/* The fields of every HTTP request. */
static void fields_write(const struct bench_options *options, char *out, size_t size)
{
    bool colon = strchr(options->server_host, ':') != NULL;
    snprintf(out, size, "Host: %s%s%s:%s\r\n%s%s", colon ? "[" : "", options->server_host,
             colon ? "]" : "", options->server_port, options->header,
             options->header[0] != '\0' ? "\r\n" : "");
}

static bool prelude_compile(struct bench *bench, struct template_space space)
{
    if (bench->options.prelude[0] == '\0')
        return true;
    space.requests = bench->options.connections;
    bench->mix.prelude =
        template_compile(bench->options.prelude, &space, bench->problem, sizeof(bench->problem));
    return bench->mix.prelude != NULL;
}

static bool mix_compile(struct bench *bench, const char *sha)
{
    const struct bench_options *options = &bench->options;
    char fields[FIELDS_MAX];
    fields_write(options, fields, sizeof(fields));
    struct template_space space = {.users = options->users,
                                   .items = options->items,
                                   .id_base = options->id_base,
                                   .requests = options->requests,
                                   .theta = options->theta,
                                   .sha = sha,
                                   .lines = bench->lines.count > 0 ? &bench->lines : NULL,
                                   .http_fields = options->http ? fields : NULL};
    mix_free(&bench->mix);
    if (!prelude_compile(bench, space))
        return false;
    for (size_t i = 0; i < options->mix.count; i++) {
        struct template *template = template_compile(options->mix.entries[i].command, &space,
                                                     bench->problem, sizeof(bench->problem));
        if (template == NULL)
            return false;
        bench->mix.weight += options->mix.entries[i].weight;
        bench->mix.until[i] = bench->mix.weight;
        bench->mix.templates[bench->mix.count++] = template;
        if (template->max_bytes > bench->mix.max_bytes)
            bench->mix.max_bytes = template->max_bytes;
        if (template->uses_sequence && options->warmup > 0) {
            snprintf(bench->problem, sizeof(bench->problem),
                     "{seq} counts every request, so it cannot be used with --warmup");
            return false;
        }
    }
    if (options->connections * options->pipeline <= BUFFERS_MAX / bench->mix.max_bytes)
        return true;
    snprintf(bench->problem, sizeof(bench->problem),
             "--connections times --pipeline of this command would take more than 4 GiB");
    return false;
}

/* Loads the script if there is one, and compiles the mix with its digest. */
static bool script_load(struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    char sha[41];
    if (options->load_script[0] == '\0')
        return true;
    int fd = connect_open(options->server_host, options->server_port, options->timeout,
                          bench->problem, sizeof(bench->problem));
    if (fd < 0)
        return false;
    bool fine =
        connect_load_script(fd, options->load_script, sha, bench->problem, sizeof(bench->problem));
    close(fd);
    return fine && mix_compile(bench, sha);
}

static bool drivers_open(struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    bench->drivers = calloc(options->threads, sizeof(struct driver));
    if (bench->drivers == NULL) {
        snprintf(bench->problem, sizeof(bench->problem), "out of memory");
        return false;
    }
    for (size_t i = 0; i < options->threads; i++) {
        uint64_t first = options->connections * i / options->threads;
        uint64_t share = options->connections * (i + 1) / options->threads - first;
        bench->drivers[i].first_connection = first;
        bench->drivers[i].stop = &bench_stop;
        bench->opened++;
        if (!driver_open(&bench->drivers[i], options, &bench->mix, share, options->seed + i * 7919,
                         bench->problem, sizeof(bench->problem)))
            return false;
    }
    return true;
}

/* Driver i of n gets the i-th range of the request numbers and every n-th due time. */
static void phase_prepare(struct bench *bench, double seconds, uint64_t requests)
{
    const struct bench_options *options = &bench->options;
    uint64_t start_ns = clock_monotonic_ns();
    for (size_t i = 0; i < options->threads; i++) {
        struct driver_phase phase = {
            .start_ns = start_ns, .stop_ns = UINT64_MAX, .end = UINT64_MAX};
        if (requests > 0) {
            phase.first = requests / options->threads * i;
            phase.end =
                i + 1 == options->threads ? requests : phase.first + requests / options->threads;
        } else {
            phase.stop_ns = start_ns + (uint64_t)(seconds * 1e9);
        }
        if (options->rate > 0) {
            phase.gap_ns = 1e9 * (double)options->threads / (double)options->rate;
            phase.offset_ns = 1e9 * (double)i / (double)options->rate;
        }
        driver_prepare(&bench->drivers[i], &phase);
    }
}

static uint64_t drivers_done(const struct bench *bench)
{
    uint64_t done = 0;
    for (size_t i = 0; i < bench->options.threads; i++)
        done += atomic_load_explicit(&bench->drivers[i].done, memory_order_relaxed);
    return done;
}

/* Waits for a thread, and shows the progress of all threads each second. */
static void thread_await(struct bench *bench, pthread_t thread, bool show)
{
    const struct bench_options *options = &bench->options;
    uint64_t start_ns = bench->drivers[0].phase.start_ns;
    uint64_t before = drivers_done(bench);
    uint64_t before_ns = clock_monotonic_ns();
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        if (pthread_timedjoin_np(thread, NULL, &until) != ETIMEDOUT)
            return;
        uint64_t now_ns = clock_monotonic_ns();
        uint64_t done = drivers_done(bench);
        if (show)
            report_progress(done, before, (double)(now_ns - start_ns) / 1e9,
                            (double)(now_ns - before_ns) / 1e9, options, stderr);
        before = done;
        before_ns = now_ns;
    }
}

static bool phase_run(struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    bool show = !options->quiet && (options->progress || isatty(STDERR_FILENO));
    pthread_t threads[256];
    size_t started = 0;
    for (; started < options->threads; started++) {
        if (pthread_create(&threads[started], NULL, driver_run, &bench->drivers[started]) != 0) {
            snprintf(bench->problem, sizeof(bench->problem), "cannot start a thread");
            atomic_store(&bench_stop, true);
            break;
        }
    }
    for (size_t i = 0; i < started; i++)
        thread_await(bench, threads[i], show);
    for (size_t i = 0; i < started && bench->problem[0] == '\0'; i++)
        snprintf(bench->problem, sizeof(bench->problem), "%s", bench->drivers[i].problem);
    return bench->problem[0] == '\0';
}

static void report_fill(struct bench *bench)
{
    struct report *report = &bench->report;
    uint64_t ended_ns = 0;
    for (size_t i = 0; i < bench->options.threads; i++) {
        const struct driver *driver = &bench->drivers[i];
        report->requests += atomic_load_explicit(&driver->done, memory_order_relaxed);
        report->unsent += driver->unsent;
        report->errors += driver->errors;
        report->bytes_sent += driver->bytes_sent;
        report->bytes_received += driver->bytes_received;
        histogram_merge(&report->histogram, &driver->histogram);
        if (report->first_error[0] == '\0')
            memcpy(report->first_error, driver->first_error, sizeof(report->first_error));
        if (driver->ended_ns > ended_ns)
            ended_ns = driver->ended_ns;
    }
    report->seconds = (double)(ended_ns - bench->drivers[0].phase.start_ns) / 1e9;
}

static bool bench_run(struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    bool has_script = options->load_script[0] != '\0';
    const char *stand_in = "0000000000000000000000000000000000000000";
    if (options->lines[0] != '\0' &&
        !line_file_read(&bench->lines, options->lines, bench->problem, sizeof(bench->problem)))
        return false;
    if (!mix_compile(bench, has_script ? stand_in : NULL) || !script_load(bench) ||
        !drivers_open(bench))
        return false;
    if (options->warmup > 0) {
        phase_prepare(bench, options->warmup, 0);
        if (!phase_run(bench))
            return false;
    }
    phase_prepare(bench, options->seconds, options->requests);
    return phase_run(bench);
}

static int bench_tell(struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    report_fill(bench);
    if (options->json)
        report_json(&bench->report, options, stdout);
    else if (!options->quiet)
        report_text(&bench->report, options, stdout);
    if (bench->report.errors == 0)
        return 0;
    fprintf(stderr, "laud bench: %llu error replies, the first: %s\n",
            (unsigned long long)bench->report.errors, bench->report.first_error);
    return options->allow_errors ? 0 : EXIT_ERRORS;
}

int bench_main(int argc, char **argv)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    int code = EXIT_BROKEN;
    if (bench == NULL)
        return code;
    atomic_store(&bench_stop, false);
    if (!bench_options_read(&bench->options, argc - 1, argv + 1, bench->problem,
                            sizeof(bench->problem)))
        goto out;
    if (bench->options.help) {
        bench_options_help(stdout);
        code = 0;
        goto out;
    }
    struct sigaction action = {.sa_handler = bench_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (bench_run(bench))
        code = bench_tell(bench);
out:
    if (bench->problem[0] != '\0')
        fprintf(stderr, "laud bench: %s\n", bench->problem);
    for (size_t i = 0; i < bench->opened; i++)
        driver_close(&bench->drivers[i]);
    free(bench->drivers);
    mix_free(&bench->mix);
    line_file_free(&bench->lines);
    free(bench);
    return code;
}
