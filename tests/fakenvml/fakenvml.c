/* SPDX-License-Identifier: MIT
 *
 * A double of libnvidia-ml.so.1 with the binary interface of the real one, for machines without a GPU. It plays the
 * file that FAKENVML names, line by line:
 *
 *     device NVIDIA H200            a GPU; the lines below it are about this one
 *     util 10 60 100                one value per reading; the last one stays (also mem, power, energy, temperature,
 *     energy_w 350                  reasons); energy_w: the energy counter rises by so many watts in real time
 *     error energy 3                this function returns 3 (util, mem, power, energy, temperature, reasons, name)
 *     lost 4                        from the 4th reading on everything says that the GPU is lost
 *     init 18                       nvmlInit returns 18
 *     hang init | hang power        it never returns (or in the 3rd reading: hang power 3)
 *     crash init | crash power      it ends by a signal
 *     log PATH                      a line per call: pid and function; for energy_w the energy in mJ, too
 *
 * Built with -DOLD_DRIVER it is a library from before the energy counter and the renamed clock reasons.
 * A reading begins with nvmlDeviceGetUtilizationRates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { UTIL, MEM, POWER, ENERGY, TEMPERATURE, REASONS, NAME, N_KINDS };
static const char *const kinds[N_KINDS] = {"util", "mem", "power", "energy", "temperature", "reasons", "name"};
enum { GPUS_MAX = 40, VALUES_MAX = 64, NOT_SUPPORTED = 3, GPU_IS_LOST = 15 };

struct device {
    char name[96];
    unsigned long long values[N_KINDS][VALUES_MAX];
    int n_values[N_KINDS];
    int error[N_KINDS];
    double energy_w;
    int lost_at, reading;
};

static struct device devices[GPUS_MAX];
static unsigned int n_devices;
static int init_result;
static char hang[32], crash[32], log_path[512];
static int hang_at, is_read;

static int kind_of(const char *word)
{
    for (int i = 0; i < N_KINDS; i++)
        if (!strcmp(kinds[i], word))
            return i;
    return -1;
}

static void read_line(char *line)
{
    char word[32] = "", other[32] = "";
    int number = 0;
    struct device *device = &devices[n_devices ? n_devices - 1 : 0];
    if (sscanf(line, "device %95[^\n]", devices[n_devices].name) == 1) {
        n_devices++;
        return;
    }
    if (sscanf(line, "log %511[^\n]", log_path) == 1 || sscanf(line, "init %d", &init_result) == 1 ||
        sscanf(line, "hang %31s %d", hang, &hang_at) >= 1 || sscanf(line, "crash %31s", crash) == 1 ||
        sscanf(line, "energy_w %lf", &device->energy_w) == 1 || sscanf(line, "lost %d", &device->lost_at) == 1)
        return;
    if (sscanf(line, "error %31s %d", other, &number) == 2 && kind_of(other) >= 0) {
        device->error[kind_of(other)] = number;
        return;
    }
    char *rest = line + strcspn(line, " \n");
    snprintf(word, sizeof word, "%.*s", (int)(rest - line), line);
    const int kind = kind_of(word);
    if (kind < 0)
        return;
    for (char *end; device->n_values[kind] < VALUES_MAX; rest = end) {
        const unsigned long long value = strtoull(rest, &end, 0);
        if (end == rest)
            return;
        device->values[kind][device->n_values[kind]++] = value;
    }
}

static void read_script(void)
{
    const char *path = getenv("FAKENVML");
    FILE *file = path && !is_read ? fopen(path, "r") : NULL;
    char line[1024];
    is_read = 1;
    while (file && fgets(line, sizeof line, file))
        read_line(line);
    if (file)
        fclose(file);
}

static void note(const char *function, const char *value)
{
    FILE *file = *log_path ? fopen(log_path, "a") : NULL;
    if (file) {
        fprintf(file, "%d %s%s\n", (int)getpid(), function, value);
        fclose(file);
    }
}

static void enter(const char *function, int reading)
{
    note(function, "");
    if (!strcmp(crash, function))
        __builtin_trap();
    while (!strcmp(hang, function) && reading >= hang_at)
        pause();
}

int nvmlInit_v2(void)
{
    read_script();
    enter("init", 0);
    return init_result;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
    enter("count", 0);
    *count = n_devices;
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device)
{
    if (index >= n_devices)
        return 2;
    *device = &devices[index];
    return 0;
}

int nvmlDeviceGetName(struct device *device, char *name, unsigned int size)
{
    if (!device->error[NAME])
        snprintf(name, size, "%s", device->name);
    return device->error[NAME];
}

const char *nvmlErrorString(int result)
{
    switch (result) {
    case NOT_SUPPORTED:
        return "Not Supported";
    case 9:
        return "Driver Not Loaded";
    case GPU_IS_LOST:
        return "GPU is lost";
    case 18:
        return "Driver/library version mismatch";
    default:
        return "Unknown Error";
    }
}

static int answer(struct device *device, int kind, unsigned long long *value)
{
    enter(kinds[kind], device->reading);
    if (device->lost_at && device->reading >= device->lost_at)
        return GPU_IS_LOST;
    if (device->error[kind])
        return device->error[kind];
    if (!device->n_values[kind])
        return NOT_SUPPORTED;
    const int at = device->reading - 1 < device->n_values[kind] ? device->reading - 1 : device->n_values[kind] - 1;
    *value = device->values[kind][at < 0 ? 0 : at];
    return 0;
}

struct utilization {
    unsigned int gpu, memory;
};

int nvmlDeviceGetUtilizationRates(struct device *device, struct utilization *utilization)
{
    unsigned long long value = 0;
    device->reading++;
    const int result = answer(device, UTIL, &value);
    *utilization = (struct utilization){(unsigned int)value, 0};
    return result;
}

struct memory {
    unsigned long long total, free, used;
};

int nvmlDeviceGetMemoryInfo(struct device *device, struct memory *memory)
{
    unsigned long long value = 0;
    const int result = answer(device, MEM, &value);
    *memory = (struct memory){150754820096ull, 150754820096ull - value, value};
    return result;
}

static int small_answer(struct device *device, int kind, unsigned int *small)
{
    unsigned long long value = 0;
    const int result = answer(device, kind, &value);
    *small = (unsigned int)value;
    return result;
}

int nvmlDeviceGetPowerUsage(struct device *device, unsigned int *milliwatt)
{
    return small_answer(device, POWER, milliwatt);
}

int nvmlDeviceGetTemperature(struct device *device, int sensor, unsigned int *celsius)
{
    return sensor == 0 ? small_answer(device, TEMPERATURE, celsius) : 2;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct device *device, unsigned long long *reasons)
{
    return answer(device, REASONS, reasons);
}

#ifndef OLD_DRIVER
int nvmlDeviceGetCurrentClocksEventReasons(struct device *device, unsigned long long *reasons)
{
    return answer(device, REASONS, reasons);
}

int nvmlDeviceGetTotalEnergyConsumption(struct device *device, unsigned long long *millijoule)
{
    if (device->energy_w > 0 && !device->lost_at) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        *millijoule = (unsigned long long)(device->energy_w * ((double)now.tv_sec + (double)now.tv_nsec / 1e9) * 1e3);
        char value[32];
        snprintf(value, sizeof value, " %llu", *millijoule);
        note("energy", value);
        return 0;
    }
    return answer(device, ENERGY, millijoule);
}
#endif
