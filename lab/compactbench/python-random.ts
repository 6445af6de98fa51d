const WORDS = 624;
const MIDDLE = 397;

/** The state of MT19937 for a seed, as Python seeds it (`init_by_array` of Matsumoto and Nishimura, 2002). */
function seedState(seed: bigint): Uint32Array {
  const state = new Uint32Array(WORDS);
  const word = (index: number): number => state[index] ?? 0;
  const mixed = (index: number): number => word(index) ^ (word(index) >>> 30);
  const keys: number[] = [];
  for (let rest = seed; rest > 0n || keys.length === 0; rest >>= 32n)
    keys.push(Number(rest & 0xffffffffn));
  state[0] = 19_650_218;
  for (let i = 1; i < WORDS; i += 1) state[i] = Math.imul(1_812_433_253, mixed(i - 1)) + i;
  let index = 1;
  const advance = (): void => {
    index += 1;
    if (index < WORDS) return;
    state[0] = word(WORDS - 1);
    index = 1;
  };
  for (let step = 0; step < WORDS; step += 1) {
    const key = step % keys.length;
    state[index] = (word(index) ^ Math.imul(mixed(index - 1), 1_664_525)) + (keys[key] ?? 0) + key;
    advance();
  }
  for (let step = 1; step < WORDS; step += 1) {
    state[index] = (word(index) ^ Math.imul(mixed(index - 1), 1_566_083_941)) - index;
    advance();
  }
  state[0] = 0x80000000;
  return state;
}

function twist(state: Uint32Array): void {
  for (let i = 0; i < WORDS; i += 1) {
    const next = state[(i + 1) % WORDS] ?? 0;
    const joined = ((state[i] ?? 0) & 0x80000000) | (next & 0x7fffffff);
    state[i] = (state[(i + MIDDLE) % WORDS] ?? 0) ^ (joined >>> 1) ^ (next & 1 ? 0x9908b0df : 0);
  }
}

/** Draws as `random.Random(seed).choice` of Python 3 does, so that a seed names the case that it names there. */
export function pythonChoices(seed: bigint): <Item>(items: readonly Item[]) => Item {
  const state = seedState(seed);
  let position = WORDS;
  const draw = (): number => {
    if (position === WORDS) {
      twist(state);
      position = 0;
    }
    let value = state[position] ?? 0;
    position += 1;
    value ^= value >>> 11;
    value ^= (value << 7) & 0x9d2c5680;
    value ^= (value << 15) & 0xefc60000;
    return (value ^ (value >>> 18)) >>> 0;
  };
  return (items) => {
    if (items.length === 0) throw new Error('nothing to choose from');
    const shift = Math.clz32(items.length);
    let index = draw() >>> shift;
    while (index >= items.length) index = draw() >>> shift;
    return items[index] as (typeof items)[number];
  };
}
