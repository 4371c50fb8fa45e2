#include "move/dates.h"

struct reading {
    const char *at;
    const char *end;
};

/* Exactly so many digits. */
static bool number(struct reading *reading, unsigned digits, int64_t most, int64_t *out)
{
    *out = 0;
    for (unsigned i = 0; i < digits; i++) {
        if (reading->at == reading->end || *reading->at < '0' || *reading->at > '9')
            return false;
        *out = *out * 10 + (*reading->at++ - '0');
    }
    return *out <= most;
}

static bool take(struct reading *reading, char wanted)
{
    if (reading->at == reading->end || *reading->at != wanted)
        return false;
    reading->at++;
    return true;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t days_before_year(int64_t year)
{
    year--;
    return year * 365 + year / 4 - year / 100 + year / 400;
}

static bool date(struct reading *reading, int64_t *days)
{
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
    int64_t year, month, day;
    if (!number(reading, 4, 9999, &year) || !take(reading, '-') ||
        !number(reading, 2, 12, &month) || !take(reading, '-') || !number(reading, 2, 31, &day) ||
        year < 1969 || month < 1 || day < 1)
        return false;
    bool leap_day = month == 2 && is_leap(year);
    if (day > before[month] - before[month - 1] + leap_day)
        return false;
    *days = days_before_year(year) - days_before_year(1970) + before[month - 1] +
            (month > 2 && is_leap(year)) + day - 1;
    return true;
}

static void skip_fraction(struct reading *reading)
{
    if (reading->at == reading->end || (*reading->at != '.' && *reading->at != ','))
        return;
    reading->at++;
    while (reading->at < reading->end && *reading->at >= '0' && *reading->at <= '9')
        reading->at++;
}

/* What the time is ahead of UTC. Anything may follow an offset. */
static bool offset(struct reading *reading, int64_t *seconds)
{
    int64_t hours, minutes;
    *seconds = 0;
    while (take(reading, ' '))
        ;
    if (reading->at == reading->end || take(reading, 'Z') || take(reading, 'z'))
        return reading->at == reading->end;
    bool ahead = *reading->at == '+';
    if (!take(reading, '+') && !take(reading, '-')) {
        struct text zone = {reading->at, (size_t)(reading->end - reading->at)};
        return text_is(zone, "UTC") || text_is(zone, "GMT");
    }
    if (!number(reading, 2, 14, &hours))
        return false;
    take(reading, ':');
    if (!number(reading, 2, 59, &minutes) || (reading->at < reading->end && *reading->at != ' '))
        return false;
    *seconds = (ahead ? 1 : -1) * (hours * 3600 + minutes * 60);
    return true;
}

bool date_parse(struct text text, uint32_t *time_s)
{
    struct text trimmed = text_trim(text);
    struct reading reading = {trimmed.bytes, trimmed.bytes + trimmed.length};
    int64_t days, hours, minutes, seconds, ahead;
    if (!date(&reading, &days))
        return false;
    if (!take(&reading, 'T') && !take(&reading, ' '))
        return false;
    while (take(&reading, ' '))
        ;
    if (!number(&reading, 2, 23, &hours) || !take(&reading, ':') ||
        !number(&reading, 2, 59, &minutes) || !take(&reading, ':') ||
        !number(&reading, 2, 60, &seconds))
        return false;
    skip_fraction(&reading);
    if (!offset(&reading, &ahead))
        return false;
    int64_t time = days * 86400 + hours * 3600 + minutes * 60 + seconds - ahead;
    if (time <= 0 || time > UINT32_MAX)
        return false;
    *time_s = (uint32_t)time;
    return true;
}
