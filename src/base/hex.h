/* Hexadecimal digits, in either case. */
#ifndef LAUD_BASE_HEX_H
#define LAUD_BASE_HEX_H

/* The value of a digit. 16: the character is not a hexadecimal digit. */
static inline unsigned hex_value(unsigned char c)
{
    unsigned digit = c - (unsigned)'0';
    if (digit <= 9)
        return digit;
    unsigned letter = (c | 0x20U) - (unsigned)'a';
    return letter <= 5 ? letter + 10 : 16;
}

#endif
