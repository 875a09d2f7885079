/* SPDX-License-Identifier: MIT
 *
 * helper_stage.h - a stage as `proftrace pipeline` runs one, in a process of its own with the stdout and stderr that a
 * test gives it: pipes, files, terminals, nothing.
 */
#ifndef PT_TESTS_HELPER_STAGE_H
#define PT_TESTS_HELPER_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct stage {
    const char *name;   /* "train" where NULL */
    const char *script; /* of sh; runs in the folder `dir` */
    int out_fd, err_fd; /* -1 = closed */
    bool status_line;
    unsigned long log_max_bytes; /* 0 = as much as it wants */
    bool no_stdin;               /* descriptor 0 is free to be taken by whatever is opened next */
};

#define BLOB_BYTES 3000000u

/* The state of a test: a folder of its own. */
struct world {
    char *folder;
    int logs_fd;
};

int world_begin(void **state);
int world_end(void **state);
void assert_file(const struct world *world, const char *name, const char *want);
bool has_log(const struct world *world, const char *name);
/* Every byte value, nothing that repeats soon; also as the file `blob`. */
char *blob_make(const struct world *world);
void assert_blob(const char *blob, char *got, size_t n); /* frees `got` */
/* A terminal whose reader is gone loses what it holds: read while the stage runs. */
char *run_on_terminal(const struct world *world, const char *script);
void pipe_make(int ends[2]);
void nap_ms(long ms);

/* A new folder with logs/ in it; removed by folder_remove. */
char *folder_make(int *ret_logs_fd);
void folder_remove(char *folder, int logs_fd);

/* Start the runner; it ends with 0 when everything was drained. What pt_output_notes says is in notes.txt. */
pid_t stage_start(const struct stage *stage, const char *folder, int logs_fd);
/* Start it and wait for it. Returns its exit code. */
int stage_run(const struct stage *stage, const char *folder, int logs_fd);
int wait_exit_code(pid_t pid);

/* The whole of a file in the folder, NUL-terminated; NULL = there is none. */
char *file_read(const char *folder, const char *name, size_t *ret_n);
/* Everything up to the end, NUL-terminated; of a terminal: until nobody has it open any more. */
char *fd_read(int fd, size_t *ret_n);

/* The two ends of a terminal as people have it: \n becomes \r\n, 25 x 80. */
void terminal_make(int *ret_master, int *ret_slave);

#endif
