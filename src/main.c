#include <stdio.h>

int main(void)
{
    puts("laud");
    return 0;
}
