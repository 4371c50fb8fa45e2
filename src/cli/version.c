#include <stdio.h>
#include <string.h>
#include <uv.h>
#include <xxhash.h>

#include "cli/commands.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

int version_main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") != 0) {
        fprintf(stderr, "laud version: unexpected argument '%s'\n", argv[1]);
        return EXIT_NOT_UNDERSTOOD;
    }
    if (argc > 1) {
        puts("Usage: laud version");
        return EXIT_DONE;
    }
    unsigned xxhash = XXH_versionNumber();
    printf("laud %s\ncompiler %s\nlibuv %s\nxxhash %u.%u.%u\n", LAUD_VERSION, COMPILER,
           uv_version_string(), xxhash / 10000, xxhash / 100 % 100, xxhash % 100);
#ifdef LAUD_FAULTS
    puts("faults on");
#endif
    return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}
