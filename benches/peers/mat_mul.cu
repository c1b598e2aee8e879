// The naive and the shared-memory matrix product as CUDA C++ tutorials write them, for comparison with
// kernels/src/mat_mul.rs: C = A * B, row-major, A [m, k], B [k, n], C [m, n], any sizes. `Index` is the
// type of every index: size_t as in the Rust kernels, or int as many C++ programs have it.

template <typename Index>
__device__ void naive(const float *a, const float *b, float *c, Index m, Index k, Index n) {
    Index column = blockIdx.x * blockDim.x + threadIdx.x;
    Index row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (Index i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

template <typename Index, int TILE>
__device__ void shared(const float *a, const float *b, float *c, Index m, Index k, Index n) {
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    Index x = threadIdx.x, y = threadIdx.y;
    Index column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (Index start = 0; start < k; start += TILE) {
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        tile_b[y][x] = column < n && start + y < k ? b[(start + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

#define KERNELS(name, Index)                                                                             \
    extern "C" __global__ void naive_##name(const float *a, const float *b, float *c, Index m, Index k,  \
                                            Index n) { naive<Index>(a, b, c, m, k, n); }                 \
    extern "C" __global__ void shared_16_##name(const float *a, const float *b, float *c, Index m,       \
                                                Index k, Index n) { shared<Index, 16>(a, b, c, m, k, n); } \
    extern "C" __global__ void shared_32_##name(const float *a, const float *b, float *c, Index m,       \
                                                Index k, Index n) { shared<Index, 32>(a, b, c, m, k, n); }

KERNELS(size_t, size_t)
KERNELS(int, int)
