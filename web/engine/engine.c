// The engine of the page: a MaskedLM forward, its loss, the gradient, and one step of training.
//
// It computes what src/cloze does with torch, in float32, in the same order and by the same names:
// encoder.py (the layers), loss.py (the loss), muon.py and torch's AdamW (the steps). Shapes stand
// beside the lines. There is no libm and no thread, and plain WebAssembly prescribes every rounding,
// so the same numbers go in and the same bytes come out, in every browser. build.py compiles it.

typedef float f4 __attribute__((vector_size(16), aligned(4)));
typedef int i4 __attribute__((vector_size(16), aligned(4)));

#define EXPORT(name) __attribute__((export_name(#name))) name
#define FOR(i, n) for (int i = 0; i < (n); i++)

// ── Memory: taken from the end of what is in use, and given back all at once ────────────────────

extern unsigned char __heap_base;
static unsigned char *top = &__heap_base;

static void *take(unsigned long bytes) {
  unsigned char *start = top;
  top += (bytes + 63) & ~63ul;
  long missing = (long)((unsigned long)top >> 16) + 1 - (long)__builtin_wasm_memory_size(0);
  if (missing > 0 && __builtin_wasm_memory_grow(0, (unsigned long)missing) == ~0ul) __builtin_trap();
  __builtin_memset(start, 0, bytes);
  return start;
}

static float *floats(int n) { return take(4ul * (unsigned long)n); }

// ── Functions that a library would have ─────────────────────────────────────────────────────────

static double exp_of(double x) {
  double n = __builtin_nearbyint(x * 1.4426950408889634), r = x - n * 0.6931471805599453, sum = 1;
  for (int i = 16; i > 0; i--) sum = 1 + r / i * sum;
  for (; n > 0; n--) sum *= 2;
  for (; n < 0; n++) sum /= 2;
  return sum;
}

static double log_of(double x) {
  double halvings = 0;
  for (; x > 1.5; halvings++) x /= 2;
  for (; x < 0.75; halvings--) x *= 2;
  double z = (x - 1) / (x + 1), square = z * z, sum = 0;
  for (int i = 41; i > 0; i -= 2) sum = sum * square + 1.0 / i;
  return 2 * z * sum + halvings * 0.6931471805599453;
}

static double cos_of(double x) {
  x -= 6.283185307179586 * __builtin_nearbyint(x * 0.15915494309189535);
  double sum = 1;
  for (int i = 26; i > 0; i -= 2) sum = 1 - x * x / (i * (i - 1)) * sum;
  return sum;
}

// ── torch's random numbers, draw by draw: the Mersenne Twister of its CPU generator ─────────────
//
// A training that is begun here and goes on in Python, or the other way round, must draw the same
// windows and masks; so this is what torch.Generator does, down to how it writes its state.

#define WORDS 624
static struct {
  unsigned long long seed;
  int left, seeded;
  unsigned long long next, words[WORDS];
  char normals[40];
} generator;

void *EXPORT(generator_at)(void) { return &generator; }

// As torch.Generator().manual_seed(value).
void EXPORT(seed)(unsigned value) {
  __builtin_memset(&generator, 0, sizeof generator);
  generator.seed = generator.words[0] = value;
  for (unsigned i = 1; i < WORDS; i++) {
    value = 1812433253u * (value ^ value >> 30) + i;
    generator.words[i] = value;
  }
  generator.left = generator.seeded = 1;
}

static unsigned word(void) {
  unsigned long long *words = generator.words;
  if (--generator.left == 0) {
    FOR(i, WORDS) {
      unsigned y = (words[i] & 0x80000000u) | (words[(i + 1) % WORDS] & 0x7fffffffu);
      words[i] = words[(i + 397) % WORDS] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    generator.left = WORDS, generator.next = 0;
  }
  unsigned y = (unsigned)words[generator.next++];
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

// As torch.rand: a number from 0 up to 1, a multiple of 2⁻²⁴.
static float uniform(void) { return (float)(word() & 0xffffff) / 0x1000000; }

// As torch.randint(range), for ranges below 2²⁸.
int EXPORT(below)(int range) { return (int)(word() % (unsigned)range); }

static int *windows, windows_room;  // six arrays of that length: see mask

int *EXPORT(windows_at)(int n) {
  if (n > windows_room) windows = take(24ul * (unsigned long)n), windows_room = n;
  return windows;
}

// Select symbols of the windows and corrupt them by BERT's rule, as mask_tokens of masking.py. After the n
// ids are which were selected, and what they had been; how many is returned. `ordinary` is [MASK].
int EXPORT(mask)(int n, float rate, int ordinary) {
  int *read = windows, *which = read + n, *truth = which + n, *random = truth + n, count = 0;
  float *numbers = (float *)(random + n), *actions = numbers + n, least = 1;
  FOR(i, n) numbers[i] = uniform();
  FOR(i, n) actions[i] = uniform();
  FOR(i, n) random[i] = below(ordinary);
  FOR(i, n) least = numbers[i] < least ? numbers[i] : least;  // so that one is always selected
  FOR(i, n) {
    if (numbers[i] >= rate && numbers[i] != least) continue;
    which[count] = i, truth[count++] = read[i];
    if (actions[i] < 0.8f) read[i] = ordinary;
    else if (actions[i] < 0.9f) read[i] = random[i];
  }
  return count;
}

static f4 all(float x) { return (f4){x, x, x, x}; }

// e^x of four numbers that are not above 0, to float32's last bit or two.
static f4 exp4(f4 x) {
  i4 tiny = x < all(-87);
  x = (f4)(((i4)x & ~tiny) | ((i4)all(-87) & tiny));
  f4 magic = all(12582912);  // 1.5 · 2²³: adding it rounds to whole numbers
  f4 n = x * all(1.44269504f) + magic - magic;
  f4 r = x - n * all(0.693359375f) + n * all(2.12194440e-4f);
  f4 p = all(1.9875691500e-4f);
  p = p * r + all(1.3981999507e-3f);
  p = p * r + all(8.3334519073e-3f);
  p = p * r + all(4.1665795894e-2f);
  p = p * r + all(1.6666665459e-1f);
  p = p * r + all(5.0000001201e-1f);
  p = p * r * r + r + all(1);
  i4 power = (__builtin_convertvector(n, i4) + 127) << 23;
  return (f4)((i4)(p * (f4)power) & ~tiny);
}

// ── Matrix products: c (m, n) = a (m, k) · b (k, n), each read with any steps ───────────────────

#define TALL 4    // rows and
#define WIDE 8    // columns of the tile that is kept in registers
#define DEEP 256  // how much of k is summed before the next tile, so that it stays in the cache
static float *strip, *panels;  // of a and b, in the order in which a tile reads them

// c += or = a · b for one tile of m by n; a is (k, TALL) and b (k, WIDE).
static void tile(int k, const float *a, const float *b, float *c, int ci, int m, int n, int add) {
  f4 sum[TALL][2] = {0};
#pragma clang loop unroll_count(4)
  FOR(p, k) {
    f4 left = *(const f4 *)(b + WIDE * p), right = *(const f4 *)(b + WIDE * p + 4);
    f4 x0 = all(a[TALL * p]), x1 = all(a[TALL * p + 1]);
    f4 x2 = all(a[TALL * p + 2]), x3 = all(a[TALL * p + 3]);
    sum[0][0] += x0 * left, sum[0][1] += x0 * right;
    sum[1][0] += x1 * left, sum[1][1] += x1 * right;
    sum[2][0] += x2 * left, sum[2][1] += x2 * right;
    sum[3][0] += x3 * left, sum[3][1] += x3 * right;
  }
  if (m >= TALL && n >= WIDE) {
    FOR(i, TALL) FOR(h, 2) {
      f4 *to = (f4 *)(c + i * ci + 4 * h);
      *to = add ? *to + sum[i][h] : sum[i][h];
    }
    return;
  }
  static float edge[TALL * WIDE];
  FOR(i, TALL) FOR(h, 2) *(f4 *)(edge + i * WIDE + 4 * h) = sum[i][h];
  FOR(i, m < TALL ? m : TALL) FOR(j, n < WIDE ? n : WIDE)
    c[i * ci + j] = (add ? c[i * ci + j] : 0) + edge[i * WIDE + j];
}

// Lay `n` columns of x side by side, `wide` at a time, with zeros at the edge: x[p * along + j * across].
static inline __attribute__((always_inline)) void lay(const float *x, int along, int across, int n,
                                                      int depth, int wide, float *to) {
  for (int j = 0; j < n; j += wide, x += wide * across) {
    if (n - j >= wide && across == 1) {
      FOR(p, depth) __builtin_memcpy(to + p * wide, x + p * along, 4 * wide);
    } else {
      FOR(w, wide) FOR(p, depth) to[p * wide + w] = j + w < n ? x[p * along + w * across] : 0;
    }
    to += depth * wide;
  }
}

// a[i, p] is a[i * ai + p * ap], b[p, j] is b[p * bp + j * bj], c[i, j] is c[i * ci + j].
static void product(int m, int n, int k, const float *a, int ai, int ap, const float *b, int bp,
                    int bj, float *c, int ci, int add) {
  int upper = a == b && m == n;  // a · aᵀ or a symmetric a · a: the lower half is the upper one, mirrored
  for (int from = 0; from < k; from += DEEP, add = 1) {
    int depth = k - from < DEEP ? k - from : DEEP;
    lay(b + from * bp, bp, bj, n, depth, WIDE, panels);
    for (int i = 0; i < m; i += TALL) {
      lay(a + i * ai + from * ap, ap, ai, m - i < TALL ? m - i : TALL, depth, TALL, strip);
      for (int j = upper ? i / WIDE * WIDE : 0; j < n; j += WIDE)
        tile(depth, strip, panels + j * depth, c + i * ci + j, ci, m - i, n - j, add);
    }
  }
  if (upper) FOR(i, m) FOR(j, i) c[i * ci + j] = c[j * ci + i];
}

// ── The model: its shape, its parameters, and what a pass leaves behind ─────────────────────────

static int V, L, D, H, N, F, direction, B;  // |V|, max_len, d_model, n_heads, n_layers, d_ff, …
static int d_head, n_parameters;
static double base;  // of the rotary positions

typedef struct {
  float *scale, *shift;
} Norm;
typedef struct {
  float *weight, *bias;  // (out, in), (out,)
} Linear;

typedef struct {
  Norm attention_norm;
  Linear query, key, value, output;
  Norm feed_forward_norm;
  Linear up, down;
  // What the backward pass needs of the forward pass, by position.
  float *x, *normed, *deviation;              // (rows, D), (rows, D) before scale and shift, (rows,)
  float *q, *k, *v;                           // (H, m, d_head), two (H, rows, d_head)
  float *weights, *gathered;                  // (H, m, length), (m, D)
  float *x_mid, *normed_mid, *deviation_mid;  // after attention, for the m rows to be finished
  float *hidden, *squared;                    // (m, F) before and after the squared ReLU
} Layer;

#define MOST_LAYERS 64
static Layer layers[MOST_LAYERS];
static float *embedding;  // (V, D)
static Norm last_norm;
static Linear head;
static float *parameters, *gradients, *first_moments, *second_moments;  // all in one order
static float *cosines, *sines;                                          // (L, d_head / 2)
static float *x_last, *normed_last, *deviation_last, *states;           // of the selected rows
static float *logits, *d_logits;                                        // (selected, V)
static float *table, *table_hat, *table_deviation, *table_of[3], *d_table;  // (V, D)
static float *d_x, *d_mid, *d_hidden, *d_rows, *d_input, *d_heads[3], *d_weights;  // in flight
static int *ids, *selected, *labels, *everywhere;  // (rows,) each; selected ascends
static int rows, lines, length, n_selected;

// The rows that a layer finishes: all of them, but in the last layer only what is asked.
static int *finished, m;
static int *starts;  // (lines + 1,) where those of each line begin

static float *gradient_of(const float *parameter) { return gradients + (parameter - parameters); }

static float *next;  // where the next parameter begins
static float *parameter(int n) {
  float *here = next;
  next += n;
  return here;
}
static Norm norm_parameters(void) {
  float *scale = parameter(D);
  return (Norm){scale, parameter(D)};
}
static Linear linear_parameters(int out, int in) {
  float *weight = parameter(out * in);
  return (Linear){weight, parameter(out)};
}

// Make room for a model and for batches of so many lines; direction 0 is both, −1 left, 1 right.
// A model that is not to be trained needs a third of the room, and answers from large vocabularies too.
int EXPORT(make)(int vocab_size, int max_len, int d_model, int n_heads, int n_layers, int d_ff,
                 int looks, double rotary_base, int batch, int trains) {
  top = &__heap_base, windows_room = 0, base = rotary_base;
  V = vocab_size, L = max_len, D = d_model, H = n_heads, N = n_layers, F = d_ff;
  direction = looks, B = batch, d_head = D / H;
  if (N > MOST_LAYERS) return 0;
  n_parameters = V * D + N * (4 * D + 4 * (D * D + D) + F * D + F + D * F + D) + 2 * D + V * D + V;
  parameters = next = floats(n_parameters);
  if (trains) {
    gradients = floats(n_parameters);
    first_moments = floats(n_parameters), second_moments = floats(n_parameters);
  }
  embedding = parameter(V * D);
  int most = B * L, widest = F > D ? F : D;
  FOR(n, N) {
    Layer *layer = &layers[n];
    layer->attention_norm = norm_parameters();
    layer->query = linear_parameters(D, D), layer->key = linear_parameters(D, D);
    layer->value = linear_parameters(D, D), layer->output = linear_parameters(D, D);
    layer->feed_forward_norm = norm_parameters();
    layer->up = linear_parameters(F, D), layer->down = linear_parameters(D, F);
    layer->x = floats(most * D), layer->normed = floats(most * D), layer->deviation = floats(most);
    layer->q = floats(most * D), layer->k = floats(most * D), layer->v = floats(most * D);
    layer->weights = floats(most * H * L), layer->gathered = floats(most * D);
    layer->x_mid = floats(most * D), layer->normed_mid = floats(most * D);
    layer->deviation_mid = floats(most);
    layer->hidden = floats(most * F), layer->squared = floats(most * F);
  }
  last_norm = norm_parameters(), head = linear_parameters(V, D);
  x_last = floats(most * D), normed_last = floats(most * D), deviation_last = floats(most);
  states = floats(most * D), logits = floats(most * V);
  int room = widest * most;  // for rows
  if (trains) {
    d_logits = floats(most * V);
    table = floats(V * D), table_hat = floats(V * D), table_deviation = floats(V);
    d_table = floats(V * D);
    FOR(i, 3) {
      table_of[i] = floats(V * D);
      d_heads[i] = floats(most * D);
    }
    room = widest * (most > D ? most : D) + V * D;  // and for a matrix that takes a step
  }
  d_x = floats(room), d_mid = floats(room), d_rows = floats(room), d_hidden = floats(room);
  d_input = floats(room), d_weights = floats(L * L);
  ids = take(4ul * most), selected = take(4ul * most), labels = take(4ul * most);
  everywhere = take(4ul * most), starts = take(4ul * (B + 1));
  FOR(r, most) everywhere[r] = r;
  strip = floats(TALL * DEEP), panels = floats((widest + V + L + WIDE) * DEEP);
  cosines = floats(L * d_head / 2), sines = floats(L * d_head / 2);
  FOR(position, L) FOR(i, d_head / 2) {
    float rate = (float)exp_of(-log_of(rotary_base) * i / (d_head / 2));
    float angle = (float)position * rate;
    cosines[position * d_head / 2 + i] = (float)cos_of(angle);
    sines[position * d_head / 2 + i] = (float)cos_of((double)angle - 1.5707963267948966);
  }
  return n_parameters;
}

static void draw_linear(Linear p, int out, int in) {
  double most = 1 / __builtin_sqrt(in);
  FOR(i, out * in) p.weight[i] = (float)((2 * (double)uniform() - 1) * most);
  FOR(i, out) p.bias[i] = (float)((2 * (double)uniform() - 1) * most);
}
static void flatten(Norm p) { FOR(i, D) p.scale[i] = 1, p.shift[i] = 0; }

// Keys begin with one arrow for each pair, queries with that arrow turned ahead by the head's offset.
static void look_beside(float *bias, int turns, double focus) {
  FOR(i, D) {
    int h = i / d_head, pair = i % d_head / 2, both = (h / 2 + 1) * (h % 2 ? 1 : -1);
    int offset = direction ? direction * (h + 1) : both;
    double angle = turns ? offset * exp_of(-log_of(base) * 2 * pair / d_head) : 0;
    bias[i] = (float)(focus * cos_of(i % 2 ? angle - 1.5707963267948966 : angle));
  }
}

// Parameters to begin with: torch's distributions, with other draws, and heads that look at their
// neighbours if `focus` is not 0.
void EXPORT(begin)(unsigned value, double focus) {
  seed(value);
  FOR(i, V * D) {
    double sum = -6;  // twelve uniform numbers add up to one that is nearly normal
    FOR(k, 12) sum += (double)uniform();
    embedding[i] = (float)sum;
  }
  FOR(n, N) {
    Layer *layer = &layers[n];
    Linear square[4] = {layer->query, layer->key, layer->value, layer->output};
    FOR(i, 4) {
      draw_linear(square[i], D, D);
      if (i < 2 && focus != 0) look_beside(square[i].bias, i == 0, focus);
    }
    draw_linear(layer->up, F, D), draw_linear(layer->down, D, F);
    flatten(layer->attention_norm), flatten(layer->feed_forward_norm);
  }
  flatten(last_norm), draw_linear(head, V, D);
}

float *EXPORT(parameters_at)(void) { return parameters; }
float *EXPORT(gradients_at)(void) { return gradients; }
float *EXPORT(first_moments_at)(void) { return first_moments; }
float *EXPORT(second_moments_at)(void) { return second_moments; }
int *EXPORT(ids_at)(void) { return ids; }
int *EXPORT(selected_at)(void) { return selected; }
int *EXPORT(labels_at)(void) { return labels; }
float *EXPORT(logits_at)(void) { return logits; }
float *EXPORT(weights_at)(int layer) { return layers[layer].weights; }
float *EXPORT(values_at)(int layer) { return layers[layer].v; }
float *EXPORT(streams_at)(void) { return x_last; }

// ── What can be read and replaced: of each layer, its heads and the two parts that are added ────

enum { HEADS, ATTENTION, FEED_FORWARD, PARTS };
static float *part_values[MOST_LAYERS][PARTS];            // (rows, D)
static unsigned char *part_replaced[MOST_LAYERS][PARTS];  // (rows, H): of ATTENTION and so on, all H

// Where the values of a part stand after a pass; what is marked in `replaced_at` is taken from there.
float *EXPORT(part_at)(int layer, int part) {
  if (!part_values[layer][part]) {
    part_values[layer][part] = floats(B * L * D);
    part_replaced[layer][part] = take((unsigned long)(B * L * H));
  }
  return part_values[layer][part];
}
unsigned char *EXPORT(replaced_at)(int layer, int part) { return part_replaced[layer][part]; }

static void exchange(int layer, int part, float *values) {
  float *kept = part_values[layer][part];
  if (!kept) return;
  FOR(i, m) FOR(h, H) {
    int row = finished[i];
    float *own = values + i * D + h * d_head, *other = kept + row * D + h * d_head;
    if (part_replaced[layer][part][row * H + h]) __builtin_memcpy(own, other, 4ul * d_head);
    else __builtin_memcpy(other, own, 4ul * d_head);
  }
}

// ── Forward ─────────────────────────────────────────────────────────────────────────────────────

// out = (x − mean) / deviation · scale + shift, for rows of D.
static void norm(const float *x, int count, Norm p, float *hat, float *deviation, float *out) {
  FOR(r, count) {
    const float *row = x + r * D;
    double mean = 0, square = 0;
    FOR(i, D) mean += row[i];
    mean /= D;
    FOR(i, D) square += (row[i] - mean) * (row[i] - mean);
    float inverse = (float)(1 / __builtin_sqrt(square / D + 1e-5));
    deviation[r] = inverse;
    FOR(i, D) {
      hat[r * D + i] = (row[i] - (float)mean) * inverse;
      out[r * D + i] = hat[r * D + i] * p.scale[i] + p.shift[i];
    }
  }
}

// y (count, out) = x (count, in) · weightᵀ + bias
static void linear(const float *x, int count, Linear p, int in, int out, float *y) {
  product(count, out, in, x, in, 1, p.weight, 1, in, y, out, 0);
  FOR(r, count) FOR(i, out) y[r * out + i] += p.bias[i];
}

static void choose(int layer) {
  int last = layer == N - 1;
  finished = last ? selected : everywhere, m = last ? n_selected : rows;
  for (int line = 0, r = 0; line <= lines; line++) {
    while (r < m && finished[r] < line * length) r++;
    starts[line] = r;
  }
}

// Copy some rows of x (rows, D), one after the other.
static void gather(float *to, const float *x, const int *which, int count) {
  FOR(r, count) __builtin_memcpy(to + r * D, x + which[r] * D, 4ul * D);
}

// From (count, D) to (H, count, d_head), or back if !to_heads. With `turn`, each pair is turned by the
// angle of its row's position; sign −1 turns it back.
static void split(float *flat, float *heads, const int *which, int count, int to_heads, int turn,
                  float sign) {
  FOR(h, H) FOR(r, count) {
    float *a = flat + r * D + h * d_head, *b = heads + (h * count + r) * d_head;
    int position = which[r] % length;
    if (!turn) {
      __builtin_memcpy(to_heads ? b : a, to_heads ? a : b, 4ul * d_head);
      continue;
    }
    FOR(i, d_head / 2) {
      float c = cosines[position * d_head / 2 + i], s = sign * sines[position * d_head / 2 + i];
      float *from = (to_heads ? a : b) + 2 * i, *to = (to_heads ? b : a) + 2 * i;
      float x = from[0], y = from[1];
      to[0] = x * c - y * s, to[1] = x * s + y * c;
    }
  }
}

// Each row of scores (count, length) becomes weights: softmax over what the query may look at.
static void softmax(float *scores, const int *which, int count, float scale) {
  FOR(i, count) {
    float *row = scores + i * length, sum = 0;
    int position = which[i] % length;
    int first = direction > 0 ? position : 0, end = direction < 0 ? position + 1 : length, j = first;
    float most = row[first];
    for (; j < end; j++) most = row[j] > most ? row[j] : most;
    for (j = first; j + 4 <= end; j += 4)
      *(f4 *)(row + j) = exp4((*(f4 *)(row + j) - all(most)) * all(scale));
    for (; j < end; j++) row[j] = exp4(all((row[j] - most) * scale))[0];
    for (j = first; j < end; j++) sum += row[j];
    float share = 1 / sum;
    FOR(n, length) row[n] = n < first || n >= end ? 0 : row[n] * share;
  }
}

// What each query finds: gathered = softmax(q kᵀ / √d_head) v, for every line and head.
static void attend(Layer *layer) {
  float scale = 1 / __builtin_sqrtf((float)d_head);
  FOR(line, lines) FOR(h, H) {
    int from = starts[line], count = starts[line + 1] - from;
    float *q = layer->q + (h * m + from) * d_head;
    float *k = layer->k + (h * rows + line * length) * d_head;
    float *v = layer->v + (h * rows + line * length) * d_head;
    float *weights = layer->weights + (h * m + from) * length;  // (count, length)
    product(count, length, d_head, q, d_head, 1, k, 1, d_head, weights, length, 0);
    softmax(weights, finished + from, count, scale);
    float *gathered = layer->gathered + from * D + h * d_head;
    product(count, d_head, length, weights, length, 1, v, d_head, 1, gathered, D, 0);
  }
}

// Logits (count, V) of the first rows of x_last: what the final norm and the head make of them.
void EXPORT(answer)(int count) {
  norm(x_last, count, last_norm, normed_last, deviation_last, states);
  linear(states, count, head, D, V, logits);
}

// Logits (n_selected, V) at the selected rows of ids (lines, length).
void EXPORT(forward)(int n_lines, int line_length, int count) {
  lines = n_lines, length = line_length, rows = lines * length, n_selected = count;
  gather(layers[0].x, embedding, ids, rows);
  FOR(n, N) {
    Layer *layer = &layers[n];
    choose(n);
    Linear projections[3] = {layer->query, layer->key, layer->value};
    float *heads[3] = {layer->q, layer->k, layer->v};
    int looked_up = n == 0 && table;
    if (looked_up) norm(embedding, V, layer->attention_norm, table_hat, table_deviation, table);
    else norm(layer->x, rows, layer->attention_norm, layer->normed, layer->deviation, d_rows);
    FOR(i, 3) {  // queries of the rows to be finished, keys and values of all
      const int *which = i ? everywhere : finished;
      int n_rows = i ? rows : m;
      if (looked_up) {  // the same of a symbol wherever it stands: computed once and looked up
        linear(table, V, projections[i], D, D, table_of[i]);
        FOR(r, n_rows) __builtin_memcpy(d_mid + r * D, table_of[i] + ids[which[r]] * D, 4ul * D);
      } else {
        gather(d_x, d_rows, which, n_rows);
        linear(d_x, n_rows, projections[i], D, D, d_mid);
      }
      split(d_mid, heads[i], which, n_rows, 1, i < 2, 1);
    }
    attend(layer);
    exchange(n, HEADS, layer->gathered);
    linear(layer->gathered, m, layer->output, D, D, layer->x_mid);
    exchange(n, ATTENTION, layer->x_mid);
    gather(d_x, layer->x, finished, m);
    FOR(i, m * D) layer->x_mid[i] += d_x[i];  // the residual connection
    norm(layer->x_mid, m, layer->feed_forward_norm, layer->normed_mid, layer->deviation_mid, d_mid);
    linear(d_mid, m, layer->up, D, F, layer->hidden);
    FOR(i, m * F) {
      float positive = layer->hidden[i] > 0 ? layer->hidden[i] : 0;
      layer->squared[i] = positive * positive;
    }
    float *out = n == N - 1 ? x_last : layers[n + 1].x;
    linear(layer->squared, m, layer->down, F, D, out);
    exchange(n, FEED_FORWARD, out);
    FOR(i, m * D) out[i] += layer->x_mid[i];  // the second residual connection
  }
  answer(n_selected);
}

// ── Loss and gradient ───────────────────────────────────────────────────────────────────────────

// The sum of −log P(label) over the selected rows, divided by `among`, their number or that of all the
// rows of a batch of which these lines are a part; its gradient at the logits is P − truth.
double EXPORT(loss)(int among) {
  double sum = 0;
  FOR(r, n_selected) {
    float *row = logits + r * V, *d = d_logits + r * V, most = row[0];
    FOR(i, V) most = row[i] > most ? row[i] : most;
    double total = 0;
    FOR(i, V) total += d[i] = exp4(all(row[i] - most))[0];
    FOR(i, V) d[i] = (float)(d[i] / total / among);
    d[labels[r]] -= 1.0f / among;
    sum += log_of(total) - (row[labels[r]] - most);
  }
  return sum / among;
}

// d_input = or += d_y · weight, and the gradients of weight and bias.
static void linear_back(const float *d_y, const float *x, int count, Linear p, int in, int out,
                        float *d_input, int add) {
  product(count, in, out, d_y, out, 1, p.weight, in, 1, d_input, in, add);
  product(out, in, count, d_y, 1, out, x, in, 1, gradient_of(p.weight), in, 1);
  float *d_bias = gradient_of(p.bias);
  FOR(r, count) FOR(i, out) d_bias[i] += d_y[r * out + i];
}

// d_input += the gradient at what was normalised, from that at the result, d_y.
static void norm_back(const float *d_y, const float *hat, const float *deviation, int count, Norm p,
                      float *d_input) {
  float *d_scale = gradient_of(p.scale), *d_shift = gradient_of(p.shift);
  FOR(r, count) {
    const float *d = d_y + r * D, *own = hat + r * D;
    double mean = 0, along = 0;
    FOR(i, D) {
      d_scale[i] += d[i] * own[i];
      d_shift[i] += d[i];
      mean += d[i] * p.scale[i];
      along += d[i] * p.scale[i] * own[i];
    }
    float level = (float)(mean / D), share = (float)(along / D);
    FOR(i, D) d_input[r * D + i] += (d[i] * p.scale[i] - level - own[i] * share) * deviation[r];
  }
}

// From the gradient of what was gathered, d (m, D), to those of queries, keys and values.
static void attend_back(Layer *layer, const float *d) {
  float scale = 1 / __builtin_sqrtf((float)d_head);
  for (int i = 1; i < 3; i++) __builtin_memset(d_heads[i], 0, 4ul * rows * D);
  FOR(line, lines) FOR(h, H) {
    int from = starts[line], count = starts[line + 1] - from;
    int q_at = (h * m + from) * d_head, kv_at = (h * rows + line * length) * d_head;
    float *weights = layer->weights + (h * m + from) * length;
    const float *d_out = d + from * D + h * d_head;  // rows are D apart
    product(length, d_head, count, weights, 1, length, d_out, D, 1, d_heads[2] + kv_at, d_head, 1);
    product(count, length, d_head, d_out, D, 1, layer->v + kv_at, 1, d_head, d_weights, length, 0);
    FOR(i, count) {  // softmax: each weight gains what it deserves above the row's mean
      float *row = weights + i * length, *d_row = d_weights + i * length, mean = 0;
      FOR(j, length) mean += row[j] * d_row[j];
      FOR(j, length) d_row[j] = row[j] * (d_row[j] - mean) * scale;
    }
    product(count, d_head, length, d_weights, length, 1, layer->k + kv_at, d_head, 1,
            d_heads[0] + q_at, d_head, 0);
    product(length, d_head, count, d_weights, 1, length, layer->q + q_at, d_head, 1,
            d_heads[1] + kv_at, d_head, 1);
  }
}

// hat · scale + shift at some rows: what a norm gave, once more.
static void renorm(const float *hat, Norm p, const int *which, int count, float *out) {
  FOR(r, count) FOR(i, D) out[r * D + i] = hat[which[r] * D + i] * p.scale[i] + p.shift[i];
}

// The gradient of the loss at every parameter: forward and loss, read backwards.
void EXPORT(backward)(void) {
  __builtin_memset(gradients, 0, 4ul * n_parameters);
  linear_back(d_logits, states, n_selected, head, D, V, d_mid, 0);
  __builtin_memset(d_x, 0, 4ul * n_selected * D);
  norm_back(d_mid, normed_last, deviation_last, n_selected, last_norm, d_x);
  for (int n = N - 1; n >= 0; n--) {
    Layer *layer = &layers[n];
    choose(n);
    // d_x is the gradient of what the layer gave, (m, D). First the feed-forward network.
    linear_back(d_x, layer->squared, m, layer->down, F, D, d_hidden, 0);
    FOR(i, m * F) d_hidden[i] *= layer->hidden[i] > 0 ? 2 * layer->hidden[i] : 0;
    renorm(layer->normed_mid, layer->feed_forward_norm, everywhere, m, d_rows);
    linear_back(d_hidden, d_rows, m, layer->up, D, F, d_mid, 0);
    norm_back(d_mid, layer->normed_mid, layer->deviation_mid, m, layer->feed_forward_norm, d_x);
    // Then attention: d_x is now the gradient of x_mid.
    linear_back(d_x, layer->gathered, m, layer->output, D, D, d_mid, 0);
    attend_back(layer, d_mid);
    // From the rows that were finished back to all: zero elsewhere.
    __builtin_memcpy(d_mid, d_x, 4ul * m * D);
    __builtin_memset(d_x, 0, 4ul * rows * D);
    FOR(r, m) __builtin_memcpy(d_x + finished[r] * D, d_mid + r * D, 4ul * D);
    // Each projection's gradient, and the sum of the three at what the norm gave.
    Linear projections[3] = {layer->query, layer->key, layer->value};
    __builtin_memset(d_mid, 0, 4ul * (n ? rows : V) * D);
    FOR(i, 3) {
      const int *which = i ? everywhere : finished;
      int n_rows = i ? rows : m;
      split(d_rows, d_heads[i], which, n_rows, 0, i < 2, -1);
      if (n == 0) {
        __builtin_memset(d_table, 0, 4ul * V * D);
        FOR(r, n_rows) FOR(c, D) d_table[ids[which[r]] * D + c] += d_rows[r * D + c];
        linear_back(d_table, table, V, projections[i], D, D, d_mid, 1);
      } else {
        renorm(layer->normed, layer->attention_norm, which, n_rows, d_hidden);
        linear_back(d_rows, d_hidden, n_rows, projections[i], D, D, d_input, 0);
        FOR(r, n_rows) FOR(c, D) d_mid[which[r] * D + c] += d_input[r * D + c];
      }
    }
    if (n == 0) {
      float *d_embedding = gradient_of(embedding);
      norm_back(d_mid, table_hat, table_deviation, V, layer->attention_norm, d_embedding);
      FOR(r, rows) FOR(c, D) d_embedding[ids[r] * D + c] += d_x[r * D + c];
    } else {
      norm_back(d_mid, layer->normed, layer->deviation, rows, layer->attention_norm, d_x);
    }
  }
}

// ── One step ────────────────────────────────────────────────────────────────────────────────────

static void adamw(float *p, int n, double rate, double correction1, double correction2) {
  long at = p - parameters;
  float *g = gradients + at, *mean = first_moments + at, *square = second_moments + at;
  float pace = (float)(rate / correction1), level = (float)(1 / __builtin_sqrt(correction2));
  FOR(i, n) {
    mean[i] += (g[i] - mean[i]) * 0.1f;
    square[i] = 0.99f * square[i] + 0.01f * g[i] * g[i];
    p[i] -= pace * mean[i] / (__builtin_sqrtf(square[i]) * level + 1e-8f);
  }
}

static const float POLYNOMIALS[3][3] = {{8.28721201814563f, -23.595886519098837f, 17.300387312530933f},
                                        {4.107059111542203f, -2.9478499167379106f, 0.5448431082926601f},
                                        {3.9486908534822946f, -2.908902115962949f, 0.5518191394370137f}};

// Bring the singular values of x (tall, wide), tall ≤ wide, near 1; gram and its square are scratch.
static void orthogonalise(float *x, int tall, int wide, float *gram, float *mixed, float *next_x) {
  double square = 0;
  FOR(i, tall * wide) square += (double)x[i] * x[i];
  float shrink = 1 / (1.01f * (float)__builtin_sqrt(square) + 1e-7f);
  FOR(i, tall * wide) x[i] *= shrink;
  FOR(step, 3) {
    const float *c = POLYNOMIALS[step];
    product(tall, tall, wide, x, wide, 1, x, 1, wide, gram, tall, 0);
    product(tall, tall, tall, gram, tall, 1, gram, tall, 1, mixed, tall, 0);
    FOR(i, tall * tall) mixed[i] = c[1] * gram[i] + c[2] * mixed[i];
    product(tall, wide, tall, mixed, tall, 1, x, wide, 1, next_x, wide, 0);
    FOR(i, tall * wide) x[i] = c[0] * x[i] + next_x[i];
  }
}

// Muon's step of a matrix (out, in), in three parts. First its gradient becomes Nesterov's look ahead.
void EXPORT(look_ahead)(int at, int n) {
  float *g = gradients + at, *average = first_moments + at;
  FOR(k, n) {
    average[k] += 0.1f * (g[k] - average[k]);
    g[k] = average[k] - (average[k] - g[k]) * 0.1f;
  }
}

// Then that is orthogonalised; it takes nearly all of the time, and nothing but the matrix itself.
void EXPORT(straighten)(int at, int out, int in) {
  float *g = gradients + at, *x = d_hidden;  // large enough for any matrix of a layer
  int tall = out <= in ? out : in, wide = out <= in ? in : out;
  FOR(i, out) FOR(j, in) x[out <= in ? i * in + j : j * out + i] = g[i * in + j];
  orthogonalise(x, tall, wide, d_mid, d_rows, d_x);
  FOR(i, out) FOR(j, in) g[i * in + j] = x[out <= in ? i * in + j : j * out + i];
}

// At last the matrix moves against it.
static void muon(float *p, int out, int in, double rate, double decay) {
  float *g = gradient_of(p), keep = (float)(1 - rate * decay);
  float pace = (float)(rate * (out > in ? __builtin_sqrt((double)out / in) : 1));
  FOR(k, out * in) p[k] = p[k] * keep - pace * g[k];
}

// Muon for the matrices of the layers, whose gradients have been straightened; AdamW for all the rest.
// `done` is the number of this step.
void EXPORT(step)(int done, double rate, double matrix_rate, double query_key_rate, double decay) {
  double correction1 = 1, correction2 = 1;
  FOR(i, done) correction1 *= 0.9, correction2 *= 0.99;
  correction1 = 1 - correction1, correction2 = 1 - correction2;
#define ADAMW(p, n) adamw(p, n, rate, correction1, correction2)
  ADAMW(embedding, V * D);
  FOR(n, N) {
    Layer *layer = &layers[n];
    Linear square[4] = {layer->query, layer->key, layer->value, layer->output};
    ADAMW(layer->attention_norm.scale, 2 * D);  // scale and shift stand side by side
    ADAMW(layer->feed_forward_norm.scale, 2 * D);
    FOR(i, 4) {
      muon(square[i].weight, D, D, i < 2 ? query_key_rate : matrix_rate, decay);
      ADAMW(square[i].bias, D);
    }
    muon(layer->up.weight, F, D, matrix_rate, decay);
    ADAMW(layer->up.bias, F);
    muon(layer->down.weight, D, F, matrix_rate, decay);
    ADAMW(layer->down.bias, D);
  }
  ADAMW(last_norm.scale, 2 * D);
  ADAMW(head.weight, V * D + V);
}
