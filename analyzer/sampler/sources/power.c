/* SPDX-License-Identifier: MIT
 *
 * sources/power.c - Owns: energy and heat of the CPUs: RAPL counters of /sys/class/powercap, sensors of
 * /sys/class/hwmon and /sys/class/thermal. Threads: main only. Never: counts a domain of a package in addition to the
 * package.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/small_file.h"
#include "source.h"

enum { ZONES_MAX = 32, SENSORS_MAX = 64 };

struct zone {
    int fd;
    pt_u64 energy_uj, range_uj; /* it counts from 0 to the range and starts again */
};

struct power {
    struct zone zones[ZONES_MAX];
    size_t n_zones;
    double energy_uj; /* since the first sample */
    int sensors[SENSORS_MAX];
    size_t n_sensors;
};

static bool read_number(int fd, double *ret_number)
{
    char text[32], *end;
    if (pt_small_file_read(fd, text, sizeof text) <= 0)
        return false;
    *ret_number = strtod(text, &end);
    return end != text;
}

/* ---- energy ---- */

/* intel-rapl:0 is a package (AMD's too), intel-rapl:0:1 a domain of it. Core and uncore are inside of the package,
 * its memory is not. "psys" is the whole board, packages included. */
static bool is_counted(const char *zone, const char *name)
{
    const bool is_domain = strchr(strchr(zone, ':') + 1, ':') != NULL;
    return is_domain ? !strcmp(name, "dram") : !strncmp(name, "package", 7);
}

static void open_zone(struct power *power, const struct pt_source_host *host, const char *zone, bool *denied)
{
    char name[64], range[32];
    pt_small_file_word(name, sizeof name, "%s/class/powercap/%s/name", host->sys, zone);
    if (!is_counted(zone, name) || power->n_zones == ZONES_MAX)
        return;
    struct zone *one = &power->zones[power->n_zones];
    one->fd = pt_small_file_open("%s/class/powercap/%s/energy_uj", host->sys, zone);
    if (one->fd < 0) {
        *denied = true;
        pt_source_unknown(host, PT_RESOURCE_cpu_energy_j,
                          errno == EACCES ? "%s/class/powercap/%s/energy_uj is readable by root only"
                                          : "%s/class/powercap/%s/energy_uj cannot be read",
                          host->sys, zone);
        return;
    }
    pt_small_file_word(range, sizeof range, "%s/class/powercap/%s/max_energy_range_uj", host->sys, zone);
    one->range_uj = strtoull(range, NULL, 10);
    power->n_zones++;
}

static void open_zones(struct power *power, const struct pt_source_host *host)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/class/powercap", host->sys);
    DIR *folder = opendir(path);
    bool denied = false;
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        if (!strncmp(entry->d_name, "intel-rapl:", 11))
            open_zone(power, host, entry->d_name, &denied);
    if (folder)
        closedir(folder);
    /* A sum without one package would be too small. */
    for (; denied && power->n_zones; power->n_zones--)
        close(power->zones[power->n_zones - 1].fd);
    if (!power->n_zones)
        pt_source_unknown(host, PT_RESOURCE_cpu_energy_j, "no energy counters of the CPU (%s/intel-rapl:*)", path);
}

static void look_at_energy(struct power *power, struct pt_source_look *look)
{
    for (size_t i = 0; i < power->n_zones; i++) {
        struct zone *zone = &power->zones[i];
        double number;
        if (!read_number(zone->fd, &number))
            return;
        const pt_u64 now = (pt_u64)number;
        if (look->interval_s > 0 && now >= zone->energy_uj)
            power->energy_uj += (double)(now - zone->energy_uj);
        else if (look->interval_s > 0 && zone->range_uj >= zone->energy_uj)
            power->energy_uj += (double)(zone->range_uj - zone->energy_uj + now);
        zone->energy_uj = now;
    }
    if (power->n_zones)
        look->values[PT_RESOURCE_cpu_energy_j] = power->energy_uj / 1e6;
}

/* ---- heat ---- */

static void add_sensor(struct power *power, int fd)
{
    double milli_celsius;
    if (fd < 0)
        return;
    if (power->n_sensors < SENSORS_MAX && read_number(fd, &milli_celsius))
        power->sensors[power->n_sensors++] = fd;
    else
        close(fd);
}

/* Sensors of one chip whose label matches; a chip without labels has one sensor, for the CPU. */
static void add_chip(struct power *power, const char *chip, const char *labels)
{
    for (int i = 1; i <= 64; i++) {
        char label[64];
        pt_small_file_word(label, sizeof label, "%s/temp%d_label", chip, i);
        if (fnmatch(labels, label, 0) == 0 || (i == 1 && !*label))
            add_sensor(power, pt_small_file_open("%s/temp%d_input", chip, i));
    }
}

static void open_chips(struct power *power, const char *sys)
{
    static const struct {
        const char *name, *labels;
    } chips[] = {{"coretemp", "Package id*"},
                 {"k10temp", "Tdie"},
                 {"k10temp", "Tctl"},
                 {"zenpower", "Tdie"},
                 {"cpu_thermal", "*"}};
    for (size_t kind = 0; kind < sizeof chips / sizeof *chips && !power->n_sensors; kind++) {
        for (int i = 0; i < 64; i++) {
            char chip[PATH_MAX], name[64];
            snprintf(chip, sizeof chip, "%s/class/hwmon/hwmon%d", sys, i);
            pt_small_file_word(name, sizeof name, "%s/name", chip);
            if (!strcmp(name, chips[kind].name))
                add_chip(power, chip, chips[kind].labels);
        }
    }
}

static void open_sensors(struct power *power, const struct pt_source_host *host)
{
    open_chips(power, host->sys);
    const bool has_chips = power->n_sensors > 0;
    for (int i = 0; i < 64 && !has_chips; i++) {
        char type[64];
        pt_small_file_word(type, sizeof type, "%s/class/thermal/thermal_zone%d/type", host->sys, i);
        if (!strcmp(type, "x86_pkg_temp") || !strncmp(type, "cpu-thermal", 11) || !strncmp(type, "cpu_thermal", 11))
            add_sensor(power, pt_small_file_open("%s/class/thermal/thermal_zone%d/temp", host->sys, i));
    }
    if (!power->n_sensors)
        pt_source_unknown(host, PT_RESOURCE_cpu_temperature_c,
                          "no sensor of the CPU in %s/class/hwmon or %s/class/thermal", host->sys, host->sys);
}

static void look_at_heat(struct power *power, struct pt_source_look *look)
{
    double hottest = NAN, milli_celsius;
    for (size_t i = 0; i < power->n_sensors; i++)
        if (read_number(power->sensors[i], &milli_celsius))
            hottest = fmax(hottest, milli_celsius / 1000);
    look->values[PT_RESOURCE_cpu_temperature_c] = hottest;
}

/* ---- both ---- */

static bool open_power(void *state, const struct pt_source_host *host)
{
    struct power *power = state;
    open_zones(power, host);
    open_sensors(power, host);
    return power->n_zones || power->n_sensors;
}

static void look_at_power(void *state, struct pt_source_look *look)
{
    look_at_energy(state, look);
    look_at_heat(state, look);
}

static void close_power(void *state)
{
    struct power *power = state;
    for (size_t i = 0; i < power->n_zones; i++)
        close(power->zones[i].fd);
    for (size_t i = 0; i < power->n_sensors; i++)
        close(power->sensors[i]);
}

const struct pt_source pt_source_power = {
    .name = "power",
    .state_size = sizeof(struct power),
    .open = open_power,
    .look = look_at_power,
    .close = close_power,
};
