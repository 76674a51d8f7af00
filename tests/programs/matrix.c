/* Matrices of doubles and floats: LU with pivoting, inverse, determinant, residuals, Jacobi eigenvalues. */
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX = 24 };

typedef double matrix[MAX][MAX];

static int invert(matrix inverse, matrix a, int n, double *determinant)
{
    *determinant = 1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            inverse[i][j] = i == j;
    for (int column = 0; column < n; column++) {
        int pivot = column;
        for (int row = column + 1; row < n; row++)
            if (fabs(a[row][column]) > fabs(a[pivot][column]))
                pivot = row;
        if (a[pivot][column] == 0)
            return 0;
        for (int j = 0; j < n && pivot != column; j++) {
            double t = a[pivot][j], u = inverse[pivot][j];
            a[pivot][j] = a[column][j], a[column][j] = t;
            inverse[pivot][j] = inverse[column][j], inverse[column][j] = u;
        }
        double scale = a[column][column];
        *determinant *= pivot == column ? scale : -scale;
        for (int j = 0; j < n; j++)
            a[column][j] /= scale, inverse[column][j] /= scale;
        for (int row = 0; row < n; row++) {
            double factor = row == column ? 0 : a[row][column];
            for (int j = 0; j < n; j++)
                a[row][j] -= factor * a[column][j], inverse[row][j] -= factor * inverse[column][j];
        }
    }
    return 1;
}

static double residual(matrix a, matrix b, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = -(i == j);
            for (int k = 0; k < n; k++)
                sum = fma(a[i][k], b[k][j], sum);
            worst = fmax(worst, fabs(sum));
        }
    return worst;
}

static void print_inverse(const char *name, double (*element)(int, int), int n)
{
    static matrix a, work, inverse;
    double determinant;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = work[i][j] = element(i, j);
    if (!invert(inverse, work, n, &determinant)) {
        printf("%s %d: singular\n", name, n);
        return;
    }
    printf("%s %d: determinant %.17g, residual %a\n", name, n, determinant, residual(a, inverse, n));
    for (int i = 0; i < n; i += 1 + n / 4)
        printf("  %.17g %.17g %.17g\n", inverse[i][0], inverse[i][n / 2], inverse[n - 1][i]);
}

static double hilbert(int i, int j)
{
    return 1.0 / (i + j + 1);
}
static double waves(int i, int j)
{
    return sin(i * 1.3 + j * j * 0.7) + (i == j ? 3 : 0);
}
static double lattice(int i, int j)
{
    return i == j ? 2 : i - j == 1 || j - i == 1 ? -1 : 0;
}
static double dependent(int i, int j)
{
    return (i + 1) * (j + 1);
}

/* Jacobi's rotations on a symmetric matrix; the eigenvalues of the lattice are 2 - 2 cos(k pi / (n + 1)). */
static void print_eigenvalues(int n)
{
    static matrix a;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i][j] = lattice(i, j);
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                if (fabs(a[p][q]) < 1e-300)
                    continue;
                double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
                double t = copysign(1, theta) / (fabs(theta) + sqrt(theta * theta + 1)),
                       c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < n; k++) {
                    double kp = a[k][p], kq = a[k][q];
                    a[k][p] = c * kp - s * kq, a[k][q] = s * kp + c * kq;
                }
                for (int k = 0; k < n; k++) {
                    double pk = a[p][k], qk = a[q][k];
                    a[p][k] = c * pk - s * qk, a[q][k] = s * pk + c * qk;
                }
            }
    double trace = 0, smallest = INFINITY;
    for (int i = 0; i < n; i++)
        trace += a[i][i], smallest = fmin(smallest, a[i][i]);
    printf("eigenvalues %d: trace %.15g, smallest %.15g, expected %.15g\n", n, trace, smallest,
           2 - 2 * cos(M_PI / (n + 1)));
    for (int i = 0; i < n; i++)
        printf("  %a\n", a[i][i]);
}

static void print_float_product(void)
{
    static float a[MAX][MAX], b[MAX][MAX];
    for (int i = 0; i < MAX; i++)
        for (int j = 0; j < MAX; j++)
            a[i][j] = 1.0f / (float)(i + 2 * j + 1), b[i][j] = (float)(i - j) / 7.0f;
    for (int i = 0; i < MAX; i += 5) {
        for (int j = 0; j < MAX; j += 4) {
            float sum = 0;
            for (int k = 0; k < MAX; k++)
                sum += a[i][k] * b[k][j];
            printf("%a ", (double)sum);
        }
        printf("\n");
    }
}

int main(void)
{
    for (int n = 1; n <= 12; n += 2)
        print_inverse("hilbert", hilbert, n);
    print_inverse("waves", waves, 10);
    print_inverse("waves", waves, MAX);
    print_inverse("lattice", lattice, 20);
    print_inverse("dependent", dependent, 3);
    print_eigenvalues(9);
    print_float_product();
    return 0;
}
