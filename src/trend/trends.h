/* Windowed boards: which windows there are. */
#ifndef LAUD_TREND_TRENDS_H
#define LAUD_TREND_TRENDS_H

enum trend_window { TREND_NONE, TREND_HOUR, TREND_DAY, TREND_WEEK };

#endif
