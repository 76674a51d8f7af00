/* Writes 8 MiB, a byte of each page. */
static _Alignas(4096) volatile char bytes[2048][4096];

int main(void)
{
    for (int i = 0; i < 2048; i++)
        bytes[i][i] = 1;
    return 0;
}
