/* Standard input: echoes numbered lines and counts lines, words, letters and the longest line. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    char line[256], longest[256] = "";
    unsigned long lines = 0, words = 0, bytes = 0, letters[26] = {0};
    while (fgets(line, sizeof line, stdin)) {
        lines++;
        int in_word = 0;
        for (const char *c = line; *c; c++) {
            bytes++;
            words += !isspace((unsigned char)*c) && !in_word;
            in_word = !isspace((unsigned char)*c);
            if (isalpha((unsigned char)*c))
                letters[tolower((unsigned char)*c) - 'a']++;
        }
        if (strlen(line) > strlen(longest))
            strcpy(longest, line);
        printf("%4lu %s", lines, line);
    }
    printf("\n%lu lines, %lu words, %lu bytes\nlongest: %s", lines, words, bytes, longest);
    for (int i = 0; i < 26; i++)
        printf("%c %lu%c", 'a' + i, letters[i], i % 8 == 7 ? '\n' : ' ');
    fprintf(stderr, "\nend of input: %d\n", feof(stdin) != 0);
    return (int)(lines % 100);
}
