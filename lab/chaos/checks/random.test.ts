import { describe, expect, test } from 'vitest';
import { createRandom } from '../random.ts';

const drawn = (seed: number | string) => {
  const random = createRandom(seed);
  return Array.from({ length: 20 }, () => random.integer(0, 1_000));
};

describe('the seeded source of choices', () => {
  test('gives the same values for the same seed', () => {
    expect(drawn(7)).toEqual(drawn(7));
  });

  test('gives other values for another seed', () => {
    expect(drawn(7)).not.toEqual(drawn(8));
  });

  test('draws whole numbers between both bounds, and each of them', () => {
    const random = createRandom('bounds');

    const values = new Set(Array.from({ length: 500 }, () => random.integer(3, 6)));

    expect(values).toEqual(new Set([3, 4, 5, 6]));
  });

  test('takes an entry as often as its weight says', () => {
    const random = createRandom('weights');
    const entries = [
      { name: 'seldom', weight: 1 },
      { name: 'never', weight: 0 },
      { name: 'often', weight: 9 },
    ];

    const names = Array.from({ length: 2_000 }, () => random.weighted(entries).name);

    expect(names).not.toContain('never');
    const share = names.filter((name) => name === 'often').length / names.length;
    expect(share).toBeCloseTo(0.9, 1);
  });

  test('makes UUIDs of version 4 that differ', () => {
    const random = createRandom('uuid');

    const uuids = Array.from({ length: 50 }, () => random.uuid());

    expect(new Set(uuids).size).toBe(50);
    for (const uuid of uuids)
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('gives an actor values that do not depend on how often others draw', () => {
    const quiet = createRandom(1);
    const busy = createRandom(1);
    busy.next();

    expect(busy.fork('phone 1').next()).toBe(quiet.fork('phone 1').next());
    expect(quiet.fork('phone 2').next()).not.toBe(quiet.fork('phone 1').next());
  });

  test('refuses to choose from nothing', () => {
    expect(() => createRandom(1).pick([])).toThrow(RangeError);
    expect(() => createRandom(1).weighted([{ weight: 0 }])).toThrow(RangeError);
  });
});
