#include "matrix_coverage.h"

#include <stdio.h>

enum { MOST_VALUES = 32, MOST_DECOMPOSITIONS = 4 };

/* By refused or not, and by decomposition. */
static bool noted[2][MOST_DECOMPOSITIONS][N_CHOICES][N_CHOICES][MOST_VALUES][MOST_VALUES];
static int transforms[N_CHOICES][MOST_VALUES];

int coverage_note_pairs(const struct matrix_case *c, bool refused)
{
    int new_ones = 0;
    for (int a = 0; a < N_CHOICES; a++)
        for (int b = a + 1; b < N_CHOICES; b++) {
            if (c->value[a] == NOT_CHOSEN || c->value[b] == NOT_CHOSEN)
                continue;
            bool *pair = &noted[refused][c->value[DECOMPOSITION]][a][b][c->value[a]][c->value[b]];
            new_ones += !*pair;
            *pair = true;
        }
    return new_ones;
}

void coverage_count_transforms(const struct matrix_case *c, int n)
{
    for (int choice = 0; choice < N_CHOICES; choice++)
        if (c->value[choice] != NOT_CHOSEN)
            transforms[choice][c->value[choice]] += n;
}

void names_print(void)
{
    const char *value;
    for (int choice = 0; choice < N_CHOICES; choice++) {
        printf("%s:", matrix_choice_name(choice));
        for (int i = 0; (value = matrix_value_name(choice, i)); i++)
            printf(" %s", value);
        printf("\n");
    }
}

void coverage_print(void)
{
    const char *value;
    for (int choice = 0; choice < N_CHOICES; choice++) {
        printf("%s:", matrix_choice_name(choice));
        for (int i = 0; (value = matrix_value_name(choice, i)); i++)
            if (transforms[choice][i])
                printf(" %s=%d", value, transforms[choice][i]);
        printf("\n");
    }
}
